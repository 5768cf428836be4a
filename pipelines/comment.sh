#!/bin/sh
# Put a file on a pull request or merge request as a comment, in place of the comment that an earlier run put there.
#
# usage: comment.sh FILE
#
# On GitHub and Gitea: GITHUB_API_URL, GITHUB_REPOSITORY, and MAPSTACK_TOKEN, which may write comments;
#                      MAPSTACK_PULL_REQUEST is the number.
# On GitLab:           CI_API_V4_URL, CI_PROJECT_ID, CI_MERGE_REQUEST_IID, and MAPSTACK_TOKEN, a token with the scope api.
#
# Needs curl and python3. The token is handed to curl on its standard input, so that no list of processes shows it.
set -eu
[ $# -eq 1 ] || { echo "usage: comment.sh FILE" >&2; exit 2; }
file=$1
[ -s "$file" ] || { echo "comment.sh: $file is empty or not there; nothing to say" >&2; exit 0; }
[ -n "${MAPSTACK_TOKEN:-}" ] || { echo "comment.sh: not run, since MAPSTACK_TOKEN is not set" >&2; exit 0; }
marker='<!-- mapstack diff -->'

if [ -n "${GITLAB_CI:-}" ]; then
  comments="$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes"
  comment=$comments
  change=PUT
  header="PRIVATE-TOKEN: $MAPSTACK_TOKEN"
else
  issues="$GITHUB_API_URL/repos/$GITHUB_REPOSITORY/issues"
  comments="$issues/${MAPSTACK_PULL_REQUEST:?the number of the pull request}/comments"
  comment="$issues/comments"
  change=PATCH
  header="Authorization: token $MAPSTACK_TOKEN"
fi

# ask METHOD URL [FILE]: a request, with a body of JSON.
ask() {
  printf 'header = "%s"\n' "$header" |
    curl --config - --silent --show-error --fail-with-body --request "$1" --header 'Content-Type: application/json' \
      ${3:+--data "@$3"} "$2"
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 - "$marker" "$file" >"$work/body.json" <<'PYTHON'
import json, sys
marker, file = sys.argv[1:]
text = open(file, encoding="utf-8").read()
json.dump({"body": f"{marker}\n{text}"}, sys.stdout)
PYTHON

# The comment of an earlier run, on any page of the list. Gitea has one page, and gives it for every number.
page=1
old=
: >"$work/before.json"
while [ -z "$old" ]; do
  ask GET "$comments?per_page=100&page=$page" >"$work/page.json"
  ! cmp -s "$work/page.json" "$work/before.json" || break
  cp "$work/page.json" "$work/before.json"
  found=$(python3 - "$marker" "$work/page.json" <<'PYTHON'
import json, sys
marker, file = sys.argv[1:]
comments = json.load(open(file, encoding="utf-8"))
ours = [str(c["id"]) for c in comments if c.get("body", "").startswith(marker)]
print(ours[0] if ours else "" if comments else "none")
PYTHON
)
  [ "$found" != none ] || break
  old=$found
  page=$((page + 1))
done

# A comment with the mark may be of somebody else, and not to be changed by this token.
if [ -n "$old" ] && ask "$change" "$comment/$old" "$work/body.json" >/dev/null; then
  echo "comment $old now has $file"
else
  ask POST "$comments" "$work/body.json" >/dev/null
  echo "a new comment has $file"
fi

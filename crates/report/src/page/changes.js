"use strict";
(() => {
  const find = (id) => document.getElementById(id);
  const search = find("search"), group = find("group"), list = find("list");
  const changes = [...document.querySelectorAll(".change")];
  const texts = changes.map((change) => change.textContent.toLowerCase());

  // The filter: changes that have the text, and the headings of groups with any.
  const filter = () => {
    const wanted = search.value.trim().toLowerCase();
    let count = 0;
    changes.forEach((change, index) => {
      change.hidden = !texts[index].includes(wanted);
      count += change.hidden ? 0 : 1;
    });
    document.querySelectorAll(".group").forEach((heading) => {
      let next = heading.nextElementSibling;
      while (next && next.hidden) next = next.nextElementSibling;
      heading.hidden = !next || next.className === "group";
    });
    find("none").hidden = count > 0;
    find("count").textContent = wanted ? `${count} of ${changes.length}` : "";
  };

  // Groups come in the order of their first change.
  const regroup = () => {
    const by = group.value, groups = new Map();
    changes.forEach((change) => {
      const name = by ? change.dataset[by] || "–" : "";
      if (!groups.has(name)) groups.set(name, []);
      groups.get(name).push(change);
    });
    list.replaceChildren();
    groups.forEach((members, name) => {
      if (by) {
        const heading = document.createElement("h2");
        heading.className = "group";
        heading.textContent = `${name} (${members.length})`;
        list.append(heading);
      }
      list.append(...members);
    });
    filter();
  };
  search.addEventListener("input", filter);
  group.addEventListener("change", regroup);
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search && !event.ctrlKey && !event.metaKey && !event.altKey) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      filter();
    }
  });
  // A browser may have kept what was typed.
  regroup();
})();

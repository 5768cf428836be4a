"""Record what a minion has without any configuration: its options, and the defaults of `config.get`.

    python record_options.py > builtin.json

Run it with the interpreter that has Salt. The options are those of a masterless minion without file
roots; its id, and what depends on this machine's set-up, is left to whoever describes a minion. Keys are
sorted, as Salt gives them in an order that changes from run to run.
"""
import json
import sys

import salt.config
import salt.modules.config
import salt.version

options = dict(salt.config.minion_config("/nonexistent"))
del options["id"], options["grains"]
options.update(
    __cli="salt-call",
    conf_file="/etc/salt/minion",
    file_client="local",
    file_roots={"base": []},
    pillar_roots={"base": []},
    user="root",
)
record = {"salt": salt.version.__version__, "options": options, "defaults": salt.modules.config.DEFAULTS}
record["options"] = {key: options[key] for key in sorted(options)}
json.dump(record, sys.stdout, indent=1)
print()

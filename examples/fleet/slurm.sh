#!/bin/sh
#SBATCH --array=1-8
exec mapstack fleet users ntp --config /etc/salt/master --shard "${PART:-auto}" --parts /shared/parts

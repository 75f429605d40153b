#!/bin/sh
# A real Slurm on this machine alone, for as long as a command runs:
#
#     sudo apt-get install slurm-wlm        # Debian, Ubuntu
#     sudo sh tools/slurm.sh .venv/bin/python -m pytest -m slow tests/lab/runs/test_clusters.py
#
# Everything it writes is in a temporary folder; the daemons end with the command. It must be root, as Slurm's are.
set -eu

[ "$#" -gt 0 ] || { echo "usage: sh tools/slurm.sh COMMAND..." >&2; exit 2; }
[ "$(id -u)" -eq 0 ] || { echo "Slurm's daemons must be started by root: sudo sh tools/slurm.sh ..." >&2; exit 2; }
for program in munged slurmctld slurmd sbatch; do
    command -v "$program" > /dev/null || { echo "$program is not here; on Debian: apt-get install slurm-wlm" >&2; exit 2; }
done

folder=$(mktemp -d)
chmod 755 "$folder"
host=$(hostname -s)
munge=
controller=
node=
end() {
    for daemon in $node $controller $munge; do kill "$daemon" 2> /dev/null || true; done
    wait 2> /dev/null || true
    rm -rf "$folder"
}
trap end EXIT
trap 'exit 130' INT TERM

# Munge signs what the daemons say to each other.
mkdir "$folder/munge" "$folder/state" "$folder/spool"
chmod 700 "$folder/munge"
dd if=/dev/urandom of="$folder/munge/key" bs=1 count=1024 2> /dev/null
chmod 600 "$folder/munge/key"
munged --foreground --force --key-file="$folder/munge/key" --socket="$folder/munge.socket" \
    --pid-file="$folder/munge/pid" --log-file="$folder/munge/log" --seed-file="$folder/munge/seed" \
    > "$folder/munge.out" 2>&1 &
munge=$!

cat > "$folder/slurm.conf" << END
ClusterName=here
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$folder/munge.socket
CredType=cred/munge
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldPort=26817
SlurmdPort=26818
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
ReturnToService=2
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
KillWait=2
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=main Nodes=$host Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:8
END
export SLURM_CONF="$folder/slurm.conf"

tries=0
until [ -S "$folder/munge.socket" ]; do
    tries=$((tries + 1))
    [ "$tries" -lt 50 ] || { echo "munged did not start: $(cat "$folder/munge.out")" >&2; exit 1; }
    sleep 0.2
done
slurmctld -D > "$folder/slurmctld.out" 2>&1 &
controller=$!
slurmd -D -N "$host" > "$folder/slurmd.out" 2>&1 &
node=$!
tries=0
until sinfo --noheader --format=%t 2> /dev/null | grep -q idle; do
    tries=$((tries + 1))
    [ "$tries" -lt 100 ] || { echo "Slurm did not start:" >&2; tail -n 5 "$folder"/*.out >&2; exit 1; }
    sleep 0.2
done
echo "Slurm $(sinfo --version | cut -d' ' -f2) on $host, $(nproc) cores" >&2
"$@"

#!/bin/sh
# A real SLURM on this machine: one node that claims 8 CPUs and 2 GPUs (links to /dev/null stand for the devices).
#   sh tests/cluster/slurm.sh start|stop
# Needs root and Debian's or Ubuntu's apt; installs slurm-wlm and munge where they are not. Status 77: cannot be done
# here, and why. A SLURM that somebody else has set up is left alone.
set -eu
CONF=/etc/slurm                     # the plugin drops SLURM_* variables: only this place is found by jobs
MARK="# made by Punchline's tests"
STATE=/var/lib/punchline-slurm      # pids, logs, spool
HOST=$(hostname -s)

cannot() { echo "$1" >&2; exit 77; }
ours() { head -n 1 "$CONF/slurm.conf" 2>/dev/null | grep -qxF "$MARK"; }
running() { [ -s "$1" ] && kill -0 "$(cat "$1")" 2>/dev/null; }
# once_a_second SECONDS COMMAND...: until it succeeds
patiently() { n=$1; shift; while ! "$@" >/dev/null 2>&1; do n=$((n - 1)); [ "$n" -gt 0 ] || return 1; sleep 0.5; done; }
idle() { sinfo -h -o %T | grep -qx idle; }
has_ended() { ! running "$1"; }

packages() {
    if command -v slurmctld && command -v slurmd && command -v munged; then return; fi >/dev/null
    command -v apt-get >/dev/null || cannot "SLURM ABSENT: no apt-get to install slurm-wlm and munge with"
    export DEBIAN_FRONTEND=noninteractive
    { apt-get update -qq && apt-get install -y -qq --no-install-recommends slurm-wlm munge; } >"$STATE/apt.log" 2>&1 ||
        cannot "SLURM ABSENT: apt-get install slurm-wlm munge failed: $(tail -n 1 "$STATE/apt.log")"
}

configure() {
    mkdir -p "$CONF" "$STATE/ctld" "$STATE/d"
    ln -sf /dev/null "$STATE/gpu0"; ln -sf /dev/null "$STATE/gpu1"   # SLURM wants devices
    # config_overrides: 8 CPUs and 60 GB on any machine, so that the shipped profile fits
    cat >"$CONF/slurm.conf" <<END
$MARK
ClusterName=punchline
SlurmctldHost=$HOST(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SlurmdParameters=config_overrides
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
MpiDefault=none
ReturnToService=2
KillWait=10
GresTypes=gpu
StateSaveLocation=$STATE/ctld
SlurmdSpoolDir=$STATE/d
SlurmctldPidFile=$STATE/slurmctld.pid
SlurmdPidFile=$STATE/slurmd.pid
SlurmctldLogFile=$STATE/slurmctld.log
SlurmdLogFile=$STATE/slurmd.log
NodeName=$HOST NodeAddr=127.0.0.1 CPUs=8 Boards=1 SocketsPerBoard=1 CoresPerSocket=8 ThreadsPerCore=1 RealMemory=60000 Gres=gpu:2 State=UNKNOWN
PartitionName=main Nodes=$HOST Default=YES MaxTime=INFINITE State=UP
END
    echo "NodeName=$HOST Name=gpu File=$STATE/gpu[0-1]" >"$CONF/gres.conf"
    printf 'CgroupPlugin=cgroup/v1\nIgnoreSystemd=yes\n' >"$CONF/cgroup.conf"
}

start() {
    [ "$(id -u)" = 0 ] || cannot "SLURM ABSENT: only root can set one up"
    [ ! -e "$CONF/slurm.conf" ] || ours || cannot "SLURM ABSENT: $CONF/slurm.conf is somebody else's"
    mkdir -p "$STATE"
    packages
    if ! munge -n >/dev/null 2>&1; then
        [ -s /etc/munge/munge.key ] || mungekey --create
        mkdir -p /run/munge && chown munge: /run/munge && chmod 755 /run/munge
        setpriv --reuid=munge --regid=munge --clear-groups munged
        touch "$STATE/munged-is-ours"
        patiently 20 munge -n || cannot "SLURM ABSENT: munged does not start"
    fi
    if running "$STATE/slurmctld.pid" && running "$STATE/slurmd.pid" && patiently 20 idle; then return; fi
    configure
    slurmctld -c
    slurmd -N "$HOST"
    patiently 60 idle || { stop; cannot "SLURM ABSENT: the node does not come up: $(tail -n 1 "$STATE/slurmd.log")"; }
}

stop() {
    ours || return 0
    scancel --user=root --full 2>/dev/null || :
    for daemon in slurmd slurmctld; do
        pid=$STATE/$daemon.pid
        if running "$pid"; then kill "$(cat "$pid")"; fi
        patiently 40 has_ended "$pid" || kill -9 "$(cat "$pid")"
    done
    if [ -e "$STATE/munged-is-ours" ]; then kill "$(cat /run/munge/munged.pid)" || :; fi
    rm -rf "$STATE" "$CONF/slurm.conf" "$CONF/gres.conf" "$CONF/cgroup.conf"
}

case ${1-} in
    start | stop) "$1" ;;
    *) echo "usage: $0 start|stop" >&2; exit 2 ;;
esac

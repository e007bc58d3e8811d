#!/usr/bin/env bash
# Installs the Debian package in a clean root, runs it there, and removes it without a trace.
#
#   deb.sh FILE.deb [ROOT]     ROOT: a folder made by debootstrap; without one it is made, which needs a network
set -euo pipefail
deb=$(realpath "${1:?which package?}")
made=''
if [[ -z ${2-} ]]; then
  made=$(mktemp -d)
  trap 'rm -rf "$made"' EXIT
  debootstrap --variant=minbase bookworm "$made/root" >"$made/log" || { tail -5 "$made/log" >&2; exit 1; }
fi
root=$(realpath "${2:-$made/root}")
# In its own namespaces: mounts and processes that are left running end with it.
unshare --mount --pid --fork --kill-child bash -euo pipefail -s "$deb" "$root" <<'INSIDE'
deb=$1 root=$2
mount -t proc proc "$root/proc"
cp "$deb" "$root/tmp/fettle.deb"
cp /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
for name in /etc/apt/apt.conf.d/*proxy*; do [[ ! -f $name ]] || cp "$name" "$root/etc/apt/apt.conf.d/"; done
inside() { chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 "$@"; }
expect() { [[ $2 == *"$1"* ]] || { echo "expected \`$1\` in: $2" >&2; exit 1; }; }
mkdir -p "$root/dev/pts" && mount -t devpts devpts "$root/dev/pts" || true
inside apt-get -qq update
before=$(inside find /usr /etc -name '*fettle*')
[[ -z $before ]] || { echo "not a clean root: $before" >&2; exit 1; }
inside apt-get -qq install -y --no-install-recommends /tmp/fettle.deb >/dev/null
expect 'fettle ' "$(inside fettle version)"
inside dpkg --verify fettle
expect 'no findings' "$(inside sh -c 'cd /tmp && mkdir -p p && printf "def run(plan):\n    plan.print(\"a\")\n" >p/main.star && fettle check p/main.star')"
expect 'two' "$(inside sh -c 'cd /tmp && printf "a:\n  file.managed:\n    - name: /tmp/made\n    - contents: two\n" >a.sls && fettle state a.sls -q >/dev/null && cat /tmp/made')"
expect '"libraries"' "$(inside fettle version -o json)"
expect 'a chroot' "$(inside fettle doctor 2>&1 || true)"
expect 'enclave' "$(inside bash -c 'source /usr/share/bash-completion/completions/fettle; complete -p fettle; fettle __complete enc')"
expect 'fettle-serve.socket' "$(inside ls /usr/lib/systemd/user)"
expect 'fettle-agent.service' "$(inside ls /usr/lib/systemd/user)"
pages=$(inside sh -c 'ls /usr/share/man/man1/fettle*.1.gz 2>/dev/null | wc -l')
echo "$pages pages for man"
inside apt-get -qq purge -y fettle >/dev/null
left=$(inside find /usr /etc /var/lib/dpkg/info -name '*fettle*')
[[ -z $left ]] || { echo "left behind: $left" >&2; exit 1; }
rm -rf "$root"/tmp/{p,a.sls,made,fettle.deb} "$root/root/.local"
echo "installed, ran, removed"
INSIDE

#!/usr/bin/env bash
# Makes the small images that tests, demos and benchmarks run, from Debian packages that are
# downloaded and unpacked, not installed: it needs no image from the internet and no image builder.
#
#   make_images.sh FOLDER [NAME...]
#
# writes FOLDER/NAME.tar, the root file system of localhost/fettle/NAME:1, and FOLDER/NAME.changes,
# the lines of a Dockerfile that belong to it. Existing files are kept; delete one to make it again.
# An engine takes both by POST /images/create?fromSrc=- (src/drivers/engine/images.h).
set -euo pipefail
mkdir -p "${1:?which FOLDER?}"
folder=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Unpacks packages, with the libraries that they depend on, in $work/NAME.
unpack() {
  local stage=$work/$1 package wanted
  mkdir -p "$stage" "$folder/packages"
  wanted=$({
    printf '%s\n' "${@:2}"
    apt-cache depends --recurse --no-recommends --no-suggests --no-conflicts --no-breaks \
      --no-replaces --no-enhances "${@:2}" | grep -E '^(lib|zlib1g$)' | grep -vE '^lib(pam|perl|c-dev|c6-dev)' || true
  } | sort -u)
  local missing=()
  for package in $wanted; do
    compgen -G "$folder/packages/${package}_*.deb" >/dev/null || missing+=("$package")
  done
  ((${#missing[@]} == 0)) || (cd "$folder/packages" && apt-get -qq -o APT::Sandbox::User=root download "${missing[@]}" >&2)
  for package in $wanted; do
    dpkg-deb --fsys-tarfile "$(compgen -G "$folder/packages/${package}_*.deb" | head -1)" |
      tar -x -C "$stage" --keep-directory-symlink
  done
  for package in bin sbin lib lib64; do
    [[ -e $stage/$package ]] || ln -s "usr/$package" "$stage/$package"
    [[ -L $stage/$package || ! -d $stage/$package ]] || { cp -a "$stage/$package/." "$stage/usr/$package/" && rm -r "${stage:?}/$package" && ln -s "usr/$package" "$stage/$package"; }
  done
}

# A root file system with busybox and all its commands.
begin_root() {
  local root=$work/root applet directory
  rm -rf "$root"
  mkdir -p "$root"/usr/{bin,sbin,lib,lib64} "$root"/{etc,proc,sys,dev,run,root,tmp,var/log,var/lib}
  chmod 1777 "$root/tmp"
  for directory in bin sbin lib lib64; do ln -s "usr/$directory" "$root/$directory"; done
  printf '%s\n' 'root:x:0:0::/root:/bin/sh' 'redis:x:100:100::/var/lib/redis:/bin/sh' 'nobody:x:65534:65534::/:/bin/sh' >"$root/etc/passwd"
  printf '%s\n' 'root:x:0:' 'redis:x:100:' 'nogroup:x:65534:' >"$root/etc/group"
  cp "$work/busybox/bin/busybox" "$root/usr/bin/busybox"
  "$root/usr/bin/busybox" --list | while read -r applet; do
    [[ -e $root/usr/bin/$applet ]] || ln -s busybox "$root/usr/bin/$applet"
  done
}

# Copies programs of a stage with the libraries that they load.
copy_programs() {
  local stage=$work/$1 program library loader
  loader=$(find "$stage/usr/lib" "$stage/usr/lib64" -name 'ld-linux-*.so.*' | head -1)
  for program in "${@:2}"; do
    rm -f "$work/root/$program"
    install -D "$stage/$program" "$work/root/$program"
    "$loader" --library-path "$stage/usr/lib/$(gcc -dumpmachine 2>/dev/null || echo x86_64-linux-gnu)" --list "$stage/$program" |
      grep -oE "$stage[^ ]+" | while read -r library; do
      mkdir -p "$work/root/$(dirname "${library#"$stage"}")"
      cp -L "$library" "$work/root/${library#"$stage"}"
    done
    mkdir -p "$work/root/usr/lib64" && cp -L "$loader" "$work/root/usr/lib64/"
  done
}

finish_root() {
  printf '%s\n' "${@:2}" >"$folder/$1.changes"
  tar -C "$work/root" --sort=name --mtime=@315532800 --owner=0 --group=0 --numeric-owner -cf "$folder/$1.tar.part" .
  mv "$folder/$1.tar.part" "$folder/$1.tar"
}

make_busybox() {
  begin_root
  finish_root busybox 'CMD ["sh"]'
}

make_web() {
  begin_root
  mkdir -p "$work/root/www"
  echo fettle >"$work/root/www/index.html"
  finish_root web 'CMD ["httpd", "-f", "-p", "80", "-h", "/www"]' 'EXPOSE 80'
}

make_redis() {
  unpack redis redis-server redis-tools
  begin_root
  copy_programs redis usr/bin/redis-check-rdb usr/bin/redis-cli
  ln -sf redis-check-rdb "$work/root/usr/bin/redis-server"
  finish_root redis 'CMD ["redis-server", "--save", "", "--protected-mode", "no"]' 'EXPOSE 6379'
}

make_python() {
  unpack python python3.11-minimal libpython3.11-minimal libpython3.11-stdlib
  begin_root
  copy_programs python usr/bin/python3.11
  cp -a "$work/python/usr/lib/python3.11" "$work/root/usr/lib/"
  rm -rf "$work/root/usr/lib/python3.11"/{test,idlelib,lib2to3,ensurepip,pydoc_data}
  cp -aL "$work"/python/usr/lib/*/lib{z,ssl,crypto,ffi,bz2,lzma,expat,uuid}.so* "$work/root/usr/lib/" 2>/dev/null || true
  ln -sf python3.11 "$work/root/usr/bin/python3"
  ln -sf python3.11 "$work/root/usr/bin/python"
  finish_root python 'CMD ["python3"]'
}

names=("$@")
((${#names[@]})) || names=(busybox web redis python)
for name in "${names[@]}"; do
  [[ -s $folder/$name.tar && -s $folder/$name.changes ]] && continue
  [[ -d $work/busybox ]] || unpack busybox busybox-static
  "make_$name"
  echo "made $folder/$name.tar, $(($(stat -c %s "$folder/$name.tar") / 1000)) kB" >&2
done

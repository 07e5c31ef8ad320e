#!/bin/sh
# check_install.sh BUILD SOURCE WORK CXX CASE: installs BUILD below WORK, moves the whole prefix away from where it was
# installed to, and there tries one of
#   program     the program with its own data, man page and completions
#   cmake       a project that uses find_package(penstock)
#   pkgconfig   one that uses pkg-config
#   packages    cpack -G DEB: what the packages hold and need
# Exit code 77: the tools for it are not here.
set -eu
build=$1 source=$2 work=$3 cxx=$4 case=$5
rm -rf "$work"
mkdir -p "$work"
fail() { echo "$*"; exit 1; }
missing() { echo "$0:1: Skipped"; echo "$* is not installed"; exit 77; }

prefix=$work/moved
if [ "$case" != packages ]; then
  cmake --install "$build" --prefix "$work/first" >"$work/install.log"
  mv "$work/first" "$prefix"
fi
libraries=$(find "$prefix" -name pkgconfig -type d 2>/dev/null || true)

case $case in
program)
  penstock=$prefix/bin/penstock
  cd "$work"
  "$penstock" version >/dev/null
  "$penstock" plan mlp:layers=2,width=16,batch=4 --cluster flat:2,device=cpu --ranks 2 -q -o plan.json >/dev/null
  # What `run` trains on by default lies beside it, not where it was built from.
  "$penstock" run plan.json --steps 2 -v >run.txt 2>talk.txt || fail "$(cat talk.txt)"
  grep -q "^data .*$prefix/share/penstock/docs" run.txt || fail "run reads other data: $(cat run.txt talk.txt)"
  for file in share/man/man1/penstock.1 share/bash-completion/completions/penstock share/doc/penstock/changelog \
              share/fish/vendor_completions.d/penstock.fish share/doc/penstock/copyright; do
    [ -s "$prefix/$file" ] || [ -s "$prefix/$file.gz" ] || fail "$file is not installed"
  done
  # Nothing outside of the system's own folders is needed.
  if command -v readelf >/dev/null; then
    if readelf -d "$penstock" | grep -E 'R(UN)?PATH'; then fail "the program looks for libraries where it was built"; fi
  fi
  ;;
cmake)
  cmake -S "$source/consumer" -B "$work/consumer" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$cxx" \
        -DCMAKE_BUILD_TYPE=Release >"$work/configure.log" 2>&1 || fail "$(cat "$work/configure.log")"
  cmake --build "$work/consumer" >"$work/build.log" 2>&1 || fail "$(cat "$work/build.log")"
  "$work/consumer/plan_and_simulate"
  # A version that this is not is refused.
  sed 's/penstock 0.1 /penstock 99 /' "$source/consumer/CMakeLists.txt" >"$work/CMakeLists.txt"
  cp "$source/consumer/plan_and_simulate.cc" "$work"
  if cmake -S "$work" -B "$work/other" -DCMAKE_PREFIX_PATH="$prefix" >"$work/other.log" 2>&1; then
    fail "version 99 was found"
  fi
  # Nothing of the build is left in what others read.
  if grep -rl "$build" "$prefix/include" $(find "$prefix" -path '*cmake/penstock' -type d) "$libraries"; then
    fail "the files above name the folder of the build"
  fi
  ;;
pkgconfig)
  command -v pkg-config >/dev/null || missing pkg-config
  export PKG_CONFIG_PATH="$libraries"
  "$cxx" -O1 "$source/consumer/plan_and_simulate.cc" $(pkg-config --cflags --libs penstock) -o "$work/consumer"
  "$work/consumer"
  ;;
packages)
  command -v dpkg-deb >/dev/null && command -v dpkg-shlibdeps >/dev/null || missing dpkg-dev
  cd "$work"
  cpack -G DEB --config "$build/CPackConfig.cmake" -B "$work" >cpack.log 2>&1 || fail "$(cat cpack.log)"
  program=$(ls penstock_*.deb) development=$(ls penstock-dev_*.deb)
  [ "$(dpkg-deb -f "$program" Package)" = penstock ]
  dpkg-deb -f "$program" Depends | grep -q libc6 || fail "the program's package does not say what it needs"
  dpkg-deb -f "$development" Depends | grep -q libfmt-dev || fail "the libraries' package does not say what it needs"
  dpkg-deb -x "$program" tree
  tree/usr/bin/penstock version >/dev/null
  dpkg-deb -c "$development" | grep usr/include/penstock/core/plan.h >/dev/null || fail "no headers in $development"
  if dpkg-deb -c "$program" | grep '/include/'; then fail "headers in $program"; fi
  if command -v lintian >/dev/null; then
    lintian --fail-on error "$program" "$development" || fail "lintian finds errors"
  fi
  ;;
esac

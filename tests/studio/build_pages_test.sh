#!/bin/sh
# apps/studio/build-pages against a made-up npm: with a network, without one, and with sources that do not build.
set -eu
script=$1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir -p "$folder/source/src" "$folder/source/node_modules" "$folder/bin"
echo '{}' >"$folder/source/package-lock.json"
echo 'one' >"$folder/source/src/main.ts"
touch "$folder/source/node_modules/of_the_source"

# npm_is CACHE NETWORK BUILD: which of `npm ci --offline`, `npm ping` and `npm run build` succeed: yes, or what npm says.
npm_is() {
  cat >"$folder/bin/npm" <<END
#!/bin/sh
echo "\$*" >>"$folder/calls"
case "\$*" in
  ci*--offline*) [ $1 = yes ] || { echo "$1"; exit 1; }; mkdir -p node_modules ;;
  ci*) [ $2 = yes ] || { echo "$2"; exit 1; }; mkdir -p node_modules ;;
  ping*) [ $2 != no ] || { echo EAI_AGAIN; exit 1; } ;;
  run*build) [ $3 = yes ] || { echo "main.ts does not build"; exit 1; }
    mkdir -p dist; for file in index.html studio.js studio.css worker.js; do cat src/main.ts >dist/\$file; done ;;
esac
END
  chmod +x "$folder/bin/npm"
}
fail() { echo "build-pages: $1" >&2; cat "$folder/out" >&2; exit 1; }
run() {
  : >"$folder/calls"
  status=0
  "$script" "$folder/source" "$folder/build" "$1" "$folder/bin/npm" >"$folder/out" 2>&1 || status=$?
}
pages=$folder/build/pages
called() { grep -q "$1" "$folder/calls"; }

npm_is no no yes
run AUTO
[ "$status" = 0 ] || fail "without a network, AUTO must go on"
grep -q "left out, for now" "$folder/out" || fail "AUTO must say that pages are left out"
grep -q "npm could not get" "$pages/why" || fail "the reason must be there"
if [ -s "$pages/studio.js.gz" ] || [ -e "$pages/stamp" ]; then fail "there must be no pages"; fi
if grep -q "^ci.*retries" "$folder/calls"; then fail "without a network it must not try to install from there"; fi
run ON
[ "$status" != 0 ] || fail "without a network, ON must fail"

npm_is no yes yes
run AUTO
if [ "$status" != 0 ] || [ ! -e "$pages/stamp" ]; then fail "with a network there must be pages"; fi
[ "$(gzip -dc "$pages/studio.js.gz")" = one ] || fail "the page must be that of the source"
[ ! -s "$pages/why" ] || fail "there must be no reason any more"
[ ! -e "$folder/build/web/node_modules/of_the_source" ] || fail "the source's packages must not be used"

npm_is no no yes
echo two >"$folder/source/src/main.ts"
run AUTO
[ "$(gzip -dc "$pages/index.html.gz")" = two ] || fail "a changed source must be built with what is installed"
if called '^ci'; then fail "what is installed must not be installed again"; fi

echo '{"changed": 1}' >"$folder/source/package-lock.json"
npm_is yes no yes
run ON
[ "$status" = 0 ] || fail "what npm has kept must do"
called '^ci' || fail "a changed lock must be installed"
if called ping; then fail "what npm has kept needs no network"; fi

npm_is yes yes no
run AUTO
[ "$status" != 0 ] || fail "sources that do not build must be an error"
grep -q "main.ts does not build" "$folder/out" || fail "npm's words must be shown"
[ ! -e "$pages/stamp" ] || fail "there must be no stamp"

echo '{"changed": 2}' >"$folder/source/package-lock.json"
npm_is no EUSAGE yes
run AUTO
[ "$status" != 0 ] || fail "a lock that does not fit must be an error"

#!/usr/bin/env bash
# cluster-api.sh [PACKAGE...] builds cluster-api's own suites, those of all packages that start a control plane or those that are named, and
# runs them unchanged on the folder that `troupe envtest install` fills. It prints a line for each package, and what has failed. The server
# runs no controllers, as a bare kube-apiserver: the suites name owners that do not exist, and what those own would be collected.
#
# Needs Go and its module proxy. The first run compiles Kubernetes' libraries, which takes minutes.
set -euo pipefail
cd "$(dirname "$0")/../../.."
version=${VERSION:-v1.14.2}
kept=${XDG_CACHE_HOME:-$HOME/.cache}/troupe-test/cluster-api
mkdir -p "$kept"
go build -o "$kept/troupe" ./cmd/troupe
export KUBEBUILDER_ASSETS=$kept/assets TROUPE_APISERVER_FLAGS=--controllers=apiserver GOFLAGS=-mod=mod GOWORK=off
"$kept/troupe" envtest install --dir "$KUBEBUILDER_ASSETS" >/dev/null

tree=$kept/$version
if [ ! -d "$tree" ]; then
  folder() { (cd "$kept" && go mod download -json "$1@$version") | sed -n 's/.*"Dir": "\(.*\)",/\1/p'; }
  cp -r "$(folder sigs.k8s.io/cluster-api)" "$tree.new"
  chmod -R u+w "$tree.new"
  cp -r "$(folder sigs.k8s.io/cluster-api/api)" "$tree.new/api" # which it takes from there
  chmod -R u+w "$tree.new"
  mv "$tree.new" "$tree"
fi
cd "$tree"
packages=${*:-$(grep -rl --include='suite_test.go' 'envtest\.Run' . | xargs -n1 dirname | sort -u)}
failed=0
for package in $packages; do
  package=${package#./}
  log=$kept/${package//\//-}.log
  if go test -v -count 1 -vet=off -timeout 15m "./$package" >"$log" 2>&1; then
    result=passed
  else
    result=FAILED failed=1
  fi
  echo "$package: $result, $(grep -cE '^ *--- PASS' "$log" || true) of $(grep -cE '^ *--- (PASS|FAIL)' "$log" || true)"
  grep -aE '^ *--- FAIL' "$log" || true
done
exit $failed

#!/bin/sh
# build.sh traefik PATH builds Traefik at the version that go.mod pins.
set -eu
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
go build -trimpath -ldflags "-s -w" -o "$2.new" github.com/traefik/traefik/v3/cmd/traefik
mv "$2.new" "$2"

#!/bin/sh
# build.sh NAME PATH builds kwok at the version that go.mod pins.
set -eu
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
go build -ldflags "-s -w" -o "$2.new" "sigs.k8s.io/kwok/cmd/$1"
mv "$2.new" "$2"

#!/bin/sh
# build.sh NAME PATH builds prometheus-operator, prometheus-config-reloader or prometheus at the version that go.mod pins.
set -eu
export CGO_ENABLED=0 GOFLAGS=-mod=readonly GOWORK=off
case $1 in
prometheus) package=github.com/prometheus/prometheus/cmd/prometheus ;;
prometheus-operator) package=github.com/prometheus-operator/prometheus-operator/cmd/operator ;;
*) package=github.com/prometheus-operator/prometheus-operator/cmd/$1 ;;
esac
go build -trimpath -ldflags "-s -w" -o "$2.new" "$package"
mv "$2.new" "$2"

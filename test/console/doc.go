// Package console uses the pages for people in a real browser: a headless Chromium, which `make console-test` installs where
// Debian's packages can be had, on a daemon in this process. Its tests have the build tag chromium, since a machine without a
// browser has to pass `make test`.
package console

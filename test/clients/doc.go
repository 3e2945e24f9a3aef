// Package clients tests real clients: kubectl, client-go, controller-runtime, envtest, the console,
// and the commands of troupe.
//
// The files of a topic begin with its name. The topics:
//
// # ClientGo
//
// These tests use client-go with Kubernetes names: typed clients in JSON and Protobuf, the dynamic,
// metadata, scale and discovery clients, informers with and without streamed initial events,
// retried watches, pagers, event recorders and leader election.
//
// Most tests share one daemon in this process, with a namespace for each. TestKilledInformer runs
// the daemon as a process and kills it repeatedly under informers and writers. Then it compares
// their caches with a list.
//
// Server is the daemon, and Traffic the recorded requests of a client.
//
// # Commands
//
// These tests run troupe like its users: in a terminal, with an editor, with manifests from URLs,
// with Ctrl-C, and with servers that have fewer features. TestShells tests completion, with the
// build tag shells.
//
// A terminal is a pseudoterminal of the operating system, whose output screen interprets.
//
// # Console
//
// These tests use the console in a headless Chromium, on a daemon in this process. `.ci/suite
// console` installs Chromium from Debian packages. The tests have the build tag chromium, because
// `make test` must pass without a browser.
//
// # CtrlWebhook
//
// These tests use controller-runtime's admission webhooks: servers with and without a manager, all
// kinds of handlers, and the installer of configurations. The cases follow the library's own tests
// and common uses.
//
// All tests share one daemon in this process, with Kubernetes names. Each test has a site: a
// namespace for its webhooks, their configurations, and the certificates to serve them.
//
// # Deploy
//
// These tests check the files in docs/deploy: their flags and metrics exist, their expressions are
// valid, and their objects are accepted.
//
// # Docs
//
// TestDocs runs the commands in README.md, CONTRIBUTING.md and docs, with a fresh directory and a
// server for each document. Code blocks with commands have the language sh, in which commands must
// succeed, or console, in which they follow "$ " and must print what is shown. Ages, addresses,
// times, durations and sizes are compared by their form only, and … stands for any text, alone in a
// line for any lines. notRun lists the commands that need what a machine for tests lacks; their
// targets, tests and programs must exist. A command `troupe serve` gets a free port and its own
// data directory, and is stopped when it is ready.
//
// # Envtest
//
// These tests use controller-runtime's package envtest with the assets that `troupe envtest
// install` installs. They cover what assets must do beyond etcd and kube-apiserver, such as leaving
// nothing behind when a test is killed. docs/conformance.md has the results of controller-runtime's
// own tests.
//
// # Kubectl
//
// These tests run kubectl against the daemon in both naming profiles.
//
// A table is a text file with one shell command per line. Empty lines and lines that begin with #
// are ignored. Tables in testdata/kubectl/steps run in both profiles. Those in its folder PROFILE
// run only in that one, because most manifests contain API groups of a profile. Each table has a
// daemon, and runs in a copy of testdata/kubectl/manifests with KUBECONFIG and PATH set.
//
// The output must equal the transcript testdata/kubectl/PROFILE/NAME.txt. For each step it has
// "$ COMMAND", standard output and standard error in the order of writing, and "[exit N]" unless N
// is 0. Values that vary between runs are replaced by UID, TIME, AGE, RV, ADDR, HASH or SUFFIX, and
// columns are separated by three spaces. `go test ./clients -run TestTables -update` writes the
// transcripts; review its changes.
//
// kubectl is built from ../tools/kubectl at the version in the test module's go.mod. Commands run
// in worker processes, because starting kubectl takes more CPU time than most commands. The
// commands of processTables and of other versions of kubectl run as processes.
//
// With TROUPE_SOAK, TestOtherClients runs every table with the clients in KUBECTLS, a list of paths
// separated by colons, or with installedClients. Only exit codes must equal the transcript's,
// because texts differ between versions.
//
// The transcripts of the profile "platform" also show a limitation of kubectl. It sends objects
// built from flags as Protobuf with a media type of Kubernetes, which that profile rejects.
// Objects from manifests are sent as JSON, which works in both profiles.
//
// TestTwins runs the tables with troupe instead of kubectl. Its transcripts in
// testdata/kubectl/twin/PROFILE contain "(as kubectl)" for a step with kubectl's output and exit
// code. Tables in testdata/kubectl/steps/troupe are for troupe alone.
//
// # Troupetest
//
// These tests are examples of package troupetest with client-go and controller-runtime, on which
// the main module does not depend.
package clients

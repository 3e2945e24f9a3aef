// Package clients tests real clients: kubectl, client-go, controller-runtime, envtest, the console,
// and the commands of troupe.
//
// The files of a topic begin with its name. The topics:
//
// # ClientGo
//
// These tests let the public client library loose on the daemon, under the names that it
// knows: typed clients in JSON and Protobuf, the dynamic, metadata, scale and discovery
// clients, informers with and without the stream of initial events, retried watches, pagers,
// event recorders and leader election. Whatever they decode is held against what was written.
//
// One daemon in process serves all tests, each in namespaces of its own; TestKilledInformer
// runs the binary, kills it under its informers and writers again and again, and at the end
// holds their caches against a list.
//
// Nouns: Server, the daemon; Traffic, the requests that a client sent; and process, a run of
// the binary.
//
// # Commands
//
// These tests run troupe as its users do: at a terminal, with an editor, with files from elsewhere,
// broken off by Ctrl-C, in the shells whose completion it has (TestShells, with the build tag
// shells), against servers that know less than ours.
//
// A terminal is a real one of the operating system; what is on it is drawn by screen.
//
// # Console
//
// These tests use the pages for people in a real browser: a headless Chromium, which `.ci/suite
// console` installs where Debian's packages can be had, on a daemon in this process. Its tests have
// the build tag chromium, since a machine without a browser has to pass `make test`.
//
// # ControllerWebhooks
//
// These tests let the public library in which most admission webhooks are written loose on the
// daemon: servers with and without a manager, handlers of every sort that the library makes, and
// its installer of configurations. The cases are those of the library's own suites, and what
// authors of webhooks build on them.
//
// One daemon in process, under the names of existing clients, serves all tests; each has webhooks
// that are asked about a namespace of its own.
//
// Noun: a site, which is a namespace, the certificates of a webhook server, and what is installed
// for it.
//
// # Deploy
//
// These tests hold the files of docs/deploy against the program: the flags that they pass exist,
// the metrics that they ask for are written, their expressions parse, and their objects are
// accepted.
//
// # Envtest
//
// These tests run suites that are written for controller-runtime's package envtest on the folder
// that `troupe envtest install` fills: what a folder has to do beyond what etcd and kube-apiserver
// do in it, such as to leave nothing behind when a test is killed. docs/conformance.md has what
// comes of controller-runtime's own suites in it.
//
// # Kubectl
//
// These tests run a real kubectl against the real daemon, in both naming profiles.
//
// A table is a text file, testdata/kubectl/steps/NAME.txt: one shell command per line; empty lines
// and lines that begin with # are only for readers. One in testdata/kubectl/steps/PROFILE is for
// that profile alone: the manifests of most families name groups of the vendor. Every table has a
// daemon of its own and runs in a copy of testdata/kubectl/manifests, with KUBECONFIG and PATH set.
// What it printed must equal the transcript, testdata/kubectl/PROFILE/NAME.txt: per step "$
// command", then standard output and error as they came, then "[exit N]" if N is not 0. In a
// transcript, what differs from run to run has a name instead: UID, TIME, AGE, RV, ADDR, HASH,
// SUFFIX; and columns are three blanks apart. `go test ./clients -run TestTables -update` writes
// the transcripts anew, for a reader to review.
//
// The client is built once per run from its own Go module, at the version that go.mod pins. A
// process of it, a worker, runs the commands of a table one after the other, because starting
// kubectl takes more CPU than most commands; of processTables, and of other clients, each command
// is a process.
//
// With TROUPE_SOAK set, the clients of KUBECTLS (paths with colons between) or, without it, the
// ones of installedClients also run every table. Their words differ from version to version, so
// only the exit codes must equal those of the transcript.
//
// What the transcripts of the profile "platform" show is also a fact about kubectl: it sends
// what it builds itself from flags as Protobuf under the vendor's media type, which only the
// profile "kubernetes" takes; what comes from a manifest is JSON, and works in both.
//
// The tables also run with troupe as the client, in kubectl's place (TestTwins):
// testdata/kubectl/twin/PROFILE/NAME.txt says "(as kubectl)" for each step whose output and exit
// code are those of kubectl's transcript, and what came instead for others.
//
// # TestServer
//
// These tests have the examples of the main module's package of that name for client-go and
// controller-runtime, which that module does not depend on. They run as tests.
package clients

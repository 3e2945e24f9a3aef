// Package clients tests the server with real clients: kubectl, client-go, controller-runtime,
// envtest, the console, and the troupe command line.
//
// Each file name starts with one of the following topics.
//
// # ClientGo
//
// These tests use client-go with Kubernetes names. They cover typed clients in JSON and Protobuf,
// the dynamic, metadata, scale and discovery clients, informers with and without WatchList,
// RetryWatchers, pagers, event recorders and leader election.
//
// Most tests share a server in this process, each with its own namespace. TestKilledInformer
// repeatedly kills a server process while informers and writers are active, and then compares the
// informer caches with a list.
//
// # Commands
//
// These tests run troupe as users do: in a terminal, with an editor, with manifests from URLs, with
// Ctrl-C, and against servers with fewer features. TestShells, with the build tag shells, tests
// completion.
//
// # Console
//
// These tests use the console in headless Chromium, with a server in this process. `.ci/suite
// console` installs Chromium from Debian packages. The tests have the build tag chromium, because
// `make test` must pass without a browser.
//
// # Controller
//
// These tests run controllers of other projects, using package troupetest's forks, faults and
// recorded changes.
//
// # CtrlWebhook
//
// These tests use controller-runtime's admission webhooks: servers with and without a manager, all
// types of handlers, and the installation of webhook configurations. The cases follow
// controller-runtime's own tests and common usage.
//
// All tests share one server in this process, with Kubernetes names. Each test has a site: a
// namespace, and the configurations and serving certificates of its webhooks.
//
// # Deploy
//
// These tests check the files in docs/deploy. Their flags and metrics must exist, their queries
// must be valid, and the server must accept their objects.
//
// # Docs
//
// TestDocs runs the commands in README.md, CONTRIBUTING.md and docs. Each document gets a new
// directory and a new server. A code block with commands is marked sh or console. In sh, the
// commands must succeed. In console, commands follow "$ " and must print the output shown.
//
// A block that starts with a comment containing the name of a file in test shows that file.
//
// Ages, addresses, times, durations and sizes may have any value. An … stands for any text or,
// alone on a line, for any number of lines. notRun lists commands that a test machine cannot run.
// Their make targets, tests and programs must exist. Each `troupe serve` command gets a free port
// and its own data directory, and is stopped when the server is ready.
//
// # Envtest
//
// These tests use controller-runtime's envtest package with the assets installed by `troupe envtest
// install`. They cover requirements beyond etcd and kube-apiserver, such as cleanup after a killed
// test. docs/conformance.md contains the results of controller-runtime's own tests.
//
// # Kubectl
//
// These tests run kubectl against the server in both naming profiles.
//
// A table is a text file with one shell command per line. Empty lines and lines that start with #
// are ignored. Tables in testdata/kubectl/steps run in both profiles. Tables in its subdirectory
// PROFILE run only in that profile, because most manifests contain API groups of one profile. Each
// table has its own server, and runs in a copy of testdata/kubectl/manifests with KUBECONFIG and
// PATH set.
//
// The output must equal the transcript testdata/kubectl/PROFILE/NAME.txt. For each step, the
// transcript contains "$ COMMAND", interleaved standard output and standard error, and "[exit N]"
// unless N is 0. Values that vary between runs are replaced by UID, TIME, AGE, RV, ADDR, HASH or
// SUFFIX, and columns are separated by three spaces. `go test ./clients -run TestTables -update`
// rewrites the transcripts. Review the diff.
//
// kubectl is built from ../tools/kubectl at the version in the test module's go.mod. Commands run
// in worker processes, because starting kubectl takes more CPU time than most commands. The
// commands in processTables, and other kubectl versions, run as separate processes.
//
// With TROUPE_SOAK, TestOtherClients runs every table with other kubectl versions. KUBECTLS lists
// their paths, separated by colons, and defaults to installedClients. Only exit codes must match
// the transcript, because texts differ between versions.
//
// The transcripts of the platform profile show a limitation of kubectl. It sends objects built from
// flags as Protobuf with the Kubernetes media type, which that profile rejects. Objects from
// manifests are sent as JSON, which works in both profiles.
//
// TestTwins runs the tables with troupe instead of kubectl. Its transcripts in
// testdata/kubectl/twin/PROFILE contain "(as kubectl)" for each step whose output and exit code
// equal kubectl's. Only troupe runs the tables in testdata/kubectl/steps/troupe.
//
// # Troupetest
//
// These tests are examples of package troupetest with client-go and controller-runtime, which are
// not dependencies of the main module.
package clients

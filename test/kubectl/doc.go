// Package kubectl runs a real kubectl against the real daemon, in both naming profiles.
//
// A table is a text file, testdata/steps/NAME.txt: one shell command per line; empty lines
// and lines that begin with # are only for readers. One in testdata/steps/PROFILE is for that
// profile alone: the manifests of most families name groups of the vendor. Every table has a
// daemon of its own and runs in a copy of testdata/manifests, with KUBECONFIG and PATH set.
// What it printed must equal the transcript, testdata/PROFILE/NAME.txt: per step "$ command", then standard output
// and error as they came, then "[exit N]" if N is not 0. In a transcript, what differs from
// run to run has a name instead: UID, TIME, AGE, RV, ADDR, HASH, SUFFIX; and columns are three blanks apart.
// `go test ./kubectl -update` writes the transcripts anew, for a reader to review.
//
// The client is built once per run from its own Go module, at the version that go.mod pins. A
// process of it, a worker, runs the commands of a table one after the other, because starting kubectl
// takes more CPU than most commands; of processTables, and of other clients, each command is a process.
//
// With TROUPE_SOAK set, the clients of KUBECTLS (paths with colons between) or, without it, the
// ones of installedClients also run every table. Their words differ from version to version, so
// only the exit codes must equal those of the transcript.
//
// What the transcripts of the profile "platform" show is also a fact about kubectl: it sends
// what it builds itself from flags as Protobuf under the vendor's media type, which only the
// profile "kubernetes" takes; what comes from a manifest is JSON, and works in both.
//
// The tables also run with troupe as the client, in kubectl's place (TestTwins): testdata/twin/PROFILE/NAME.txt says "(as kubectl)" for each step
// whose output and exit code are those of kubectl's transcript, and what came instead for others.
package kubectl

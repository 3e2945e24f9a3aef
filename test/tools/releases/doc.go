// Command releases records data directories of earlier releases. Its test opens each directory with
// the current server.
//
//	go run ./tools/releases -binary PATH -as NAME
//
// The command starts a release's binary twice and writes objects of many kinds (record.go). The
// first run ends with SIGTERM, the second with SIGKILL. The command packs the data directory into
// testdata/NAME.tar.gz, with recorded.json: the objects served at the end, the paths of deleted
// objects, and the events of a watch. Names in testdata consist of the release's date and commit:
//
//	1121-30c2a52  the first journal and snapshots, with six kinds
//	1121-26eb35a  zero padding at the end of the journal
//	1122-ea60cd9  directories of format 2, with a control file
//	1123-a7b49a0  encryption, admission, CRDs with validation rules, labels of histories
//	1124-19347fd  the kinds of release 1.35
//	1124-4348190  named histories, a journal archive
//
// A release that changes the on-disk format adds a data directory.
package main

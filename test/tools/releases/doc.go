// Command releases keeps data directories of earlier releases; its test opens each with the current
// server.
//
//	go run ./tools/releases -binary PATH -as NAME
//
// It lets a release's binary write objects of many kinds (record.go) in two runs, ended by SIGTERM
// and SIGKILL. It packs the data directory into testdata/NAME.tar.gz, with recorded.json: the
// objects served at the end, the deleted ones, and the events of a watch. Names in testdata are the
// release's day and commit:
//
//	1121-30c2a52  the first journal and snapshots, with six kinds
//	1121-26eb35a  zeros written ahead of the journal
//	1122-ea60cd9  directories of format 2, with a control file
//	1123-a7b49a0  encryption, admission, CRDs with validation rules, labels of histories
//	1124-19347fd  the kinds of release 1.35
//	1124-4348190  histories that have a name, an archive of the journal
//
// A release that changes the on-disk format adds its own.
package main

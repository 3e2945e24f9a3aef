// Command releases keeps the data directories of earlier releases, and its test opens each of them with the server of today.
//
//	go run ./tools/releases -binary PATH -as NAME
//
// It lets a binary of the release write objects of many kinds (record.go) in two lives, the first of which ends by a signal and the second by a kill, and
// packs the data directory into testdata/NAME.tar.gz, beside recorded.json: what the release served at the end, what it had deleted, and what
// a watch told. The names in testdata begin with the day of the release and end with its commit:
//
//	1121-30c2a52  the first journal and snapshots, with six kinds
//	1121-26eb35a  zeros written ahead of the journal
//	1122-ea60cd9  directories of format 2, with a control file
//	1123-a7b49a0  encryption, admission, definitions with rules, labels of histories
//	1124-19347fd  the kinds of release 1.35
//	1124-4348190  histories that have a name, an archive of the journal
//
// A release that changes what is on the disk adds its own.
package main

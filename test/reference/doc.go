// Package reference plays the recorded answers of the reference implementation against
// the real daemon, under the naming profile of existing clients.
//
// Its nouns:
//
//	recording  one file of testdata: a group of cases
//	step       one request of a case, and the answer it was given
//	player     the daemon, its administrator, and what earlier steps told it to remember
//	verdict    where an answer differs from the recorded one: hard differences, and
//	           soft ones of wording, which are only shown
//
// A case agrees, or it is listed in differs.go and docs/departures.md with its reason. A listed
// case that agrees fails the test, so the lists can only tell the truth.
//
// Left out of the comparison, because they differ by nature: the values (not the presence)
// of uids, resource versions, timestamps, continue tokens and addresses.
package reference

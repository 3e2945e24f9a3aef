// Package etcdmodel is an in-memory model of an etcd cluster, for tests that inject faults and run
// many histories in a short time, also in a bubble of testing/synctest.
//
// A Cluster has one linear history of revisions, which several Members serve by gRPC on in-memory
// connections. It implements the requests that package persist/etcd sends: Range, Put, DeleteRange,
// Txn, Compact, Watch and Status. Other requests and options fail with the code Unimplemented.
// TestModelOfEtcd in test/storage compares the responses with those of an etcd.
//
// # Faults
//
// A Link is the network between one client and all members. Its Fault decides whether requests,
// responses and watch events pass, wait or fail:
//
//	Requests   Hold   a request is executed later, even if its client has given up
//	           Fail   connections break, and new ones are refused
//	Responses  Hold   a request is executed; the client gets the response later
//	           Fail   a request is executed; the client gets the error Unavailable
//	Events     Hold   watches send nothing, not even progress
//	           Fail   watches end
//
// Members have faults too:
//
//	Stop       breaks the connections to a member. Without a majority there is no leader.
//	Lag        the member does not apply new revisions: its watches stand still, and its responses
//	           wait
//
// And so does the cluster:
//
//	NoSpace    transactions that put keys are refused, as with the alarm NOSPACE
//	Compact    drops the history up to a revision
//	Restore    replaces the history by that of a Backup, as etcdutl does, possibly with raised
//	           revisions. The ID of the cluster stays, so that clients cannot detect it by the ID.
//	Replace    replaces the history by an empty one and the ID by another
//
// # Differences from etcd
//
// Watches send small fragments and a few revisions at a time, so that tests see the borders. There
// are no leases, users, elections or disks. A change is committed as soon as it is executed.
package etcdmodel

// Package recording records what a controller reads from and writes to an API server, and replays
// it to another build of the controller.
//
//	Proxy      forwards the requests of one command to a server, and observes them
//	Record     writes them to a file
//	Read       reads the file
//	world      the initial objects of a recording, and their changes
//	Replay     plays the world to a command, on a server in this process
//	compare    reports the differences between the writes
//
// # Format
//
// A recording has one JSON object per line: the Header, and then an Entry per line. The sequence
// number of an entry is its line number. An incomplete last line is ignored.
//
//	{"recording":1,"naming":"kubernetes","resourceVersion":"812","secrets":"redact"}
//	{"seq":2,"method":"GET","uri":"/api/v1/configmaps?watch=true"}
//	{"seq":3,"request":2,"code":200}
//	{"seq":4,"request":2,"event":"ADDED","body":{"kind":"ConfigMap",…}}
//	{"seq":5,"method":"POST","uri":"/api/v1/namespaces/shop/secrets","body":{…}}
//	{"seq":6,"request":5,"code":201,"body":{…}}
//	{"seq":7,"method":"GET","uri":"/api/v1/…","code":200,"body":{…}}
//
// Line 7 is a read by the recorder itself. It reads each object before its first update or delete,
// and the CustomResourceDefinition of each kind. Requests are recorded when they arrive, responses
// and events before the controller receives them. Only requests for objects are recorded. Bodies
// are JSON, even if the controller sent Protobuf.
//
// # Replay
//
// The states of an object are those in responses and events, ordered by resource version. An object
// existed initially if its first state is not newer than the recording, or was read rather than
// watched. Any later state that does not result from a write by the controller is an external
// change.
//
// The server makes each external change once the controller has opened the watches and made the
// writes that precede the change, or is idle. It sets only the changed fields, so that it does not
// revert different writes of the new build. The UIDs and generated names of objects that the
// controller creates are translated.
package recording

// Package audit records who has asked for what, and how it ended.
//
// A Policy says how much is recorded of which request: its first rule that matches counts. An Event is what is known of one request at one stage of its life. A Record makes
// the Events of one request; it belongs to the goroutine that answers the request and is used
// again afterwards. A Sink takes Events: a log file (a File rotates itself) or a webhook,
// each either before the request goes on (blocking) or in batches. The Auditor holds them
// together.
//
// # Format
//
// A line of a log in JSON, and an item of the list that a webhook gets, is one Event:
//
//	{"kind":"Event","apiVersion":"audit.platform.io/v1","level":L,"auditID":T,"stage":S,
//	 "requestURI":T,"verb":T,"user":U,"impersonatedUser":U,"sourceIPs":[T],"userAgent":T,
//	 "objectRef":{"resource","namespace","name","uid","apiGroup","apiVersion",
//	 "resourceVersion","subresource"},"responseStatus":{"metadata":{},...,"code":N},
//	 "requestObject":V,"responseObject":V,"requestReceivedTimestamp":M,"stageTimestamp":M,
//	 "annotations":{T:T}}
//
// without any white space outside strings, and ended by one newline. L is Metadata, Request
// or RequestResponse; S is RequestReceived, ResponseStarted (of watches, and of requests that
// were refused before it was known who asks), ResponseComplete or Panic. U is
// {"username","uid","groups","extra"}. M is a time in UTC with six digits of a second. Empty
// members are absent, but for user, level, auditID, stage, requestURI, verb and the two times.
// A legacy line is "<time> AUDIT: id=Q stage=Q ip=Q method=Q user=Q groups=Q,Q as=Q asgroups=Q
// user-agent=Q namespace=Q uri=Q response=Q" with strings quoted as in Go. A webhook gets
// {"kind":"EventList","apiVersion":"audit.platform.io/v1","metadata":{},"items":[...]}.
//
// # Invariants
//
//   - One Event is one line: what is not printable is escaped, whoever sent it.
//   - No header of a request but its User-Agent and the addresses of proxies gets into an
//     Event, and of the URI no value of a parameter whose name holds "token", however that is spelled.
//   - Bodies, and error messages about a body, which may quote it, stand only in Events from
//     the level Request on.
//   - What is buffered is bounded in number and bytes. What is lost is counted.
//   - A full disk never leaves half a line before a whole one.
//
// # Why the File is our own
//
// gopkg.in/natefinch/lumberjack.v2 (v2.2.1) rotates by the same names and limits, but does not keep
// what an audit log promises: a write that fails in part leaves half a line; a write longer than
// the maximum size is refused instead of getting a file of its own; two rotations within one
// millisecond overwrite the first file; errors of compression and removal are dropped; a size of 0
// means 100 MB instead of no bound; the goroutine that removes old files outlives Close.
package audit

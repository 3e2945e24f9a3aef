// Package audit records requests with their users and outcomes.
//
// The first matching rule of a Policy decides how much to record. An Event describes a request at
// one stage. A Record produces the Events of one request. A Sink delivers Events to a log file or a
// webhook, either before the request proceeds (blocking) or in batches.
//
// # Format
//
// A line of a JSON log, and an item of the list that a webhook receives, is one Event:
//
//	{"kind":"Event","apiVersion":"audit.platform.io/v1","level":L,"auditID":T,"stage":S,
//	 "requestURI":T,"verb":T,"user":U,"impersonatedUser":U,"sourceIPs":[T],"userAgent":T,
//	 "objectRef":{"resource","namespace","name","uid","apiGroup","apiVersion",
//	 "resourceVersion","subresource"},"responseStatus":{"metadata":{},...,"code":N},
//	 "requestObject":V,"responseObject":V,"requestReceivedTimestamp":M,"stageTimestamp":M,
//	 "annotations":{T:T}}
//
// Events have no white space outside strings and end with one newline. L is Metadata, Request or
// RequestResponse. S is RequestReceived, ResponseStarted (for watches, and for requests rejected
// before authentication), ResponseComplete or Panic. U is {"username","uid","groups","extra"}. M is
// a UTC time with microseconds. Empty members are omitted, except for user, level, auditID, stage,
// requestURI, verb and the two times.
//
// A legacy line is "<time> AUDIT: id=Q stage=Q ip=Q method=Q user=Q groups=Q,Q as=Q asgroups=Q
// user-agent=Q namespace=Q uri=Q response=Q" with strings quoted as in Go. A webhook receives
// {"kind":"EventList","apiVersion":"audit.platform.io/v1","metadata":{},"items":[...]}.
//
// # Invariants
//
//   - One Event is one line. Unprintable characters are escaped.
//   - Of the headers, an Event contains only User-Agent and proxy addresses. The URI omits
//     values of parameters whose name contains "token", regardless of case and escaping.
//   - Bodies, and error messages that may quote them, appear only at level Request and above.
//   - Buffers are limited in number and size, and lost Events are counted.
//   - A full disk never leaves a partial line before a complete one.
//
// # Why not lumberjack
//
// gopkg.in/natefinch/lumberjack.v2 (v2.2.1) uses the same file names and limits. However, a partial
// write leaves half a line. A write longer than the maximum size fails. Two rotations within one
// millisecond overwrite the first file. Errors of compression and removal are dropped. A size of 0
// means 100 MB rather than unlimited.
package audit

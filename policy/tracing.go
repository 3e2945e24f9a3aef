package policy

// TracerName is the instrumentation scope of the server's spans.
const TracerName = "github.com/troupe-api/troupe"

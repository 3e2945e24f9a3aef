package http

import "bytes"

const namingWarning = "this server uses vendor-neutral names (--naming platform); " +
	"kubectl, Helm and controllers expect those of troupe serve --naming kubernetes"

// warnNaming warns a client that expects Kubernetes names, once per connection. It is called only
// for the platform profile. client-go puts " kubernetes/" into every User-Agent.
func (s *Server) warnNaming(x *requestContext) {
	agent := x.ctx.UserAgent()
	if bytes.Contains(agent, []byte(" kubernetes/")) || bytes.HasPrefix(agent, []byte("kubectl/")) || bytes.HasPrefix(agent, []byte("Helm/")) {
		x.conn.warnedNaming = true
		x.addWarnings([]string{namingWarning})
	}
}

package http

import "bytes"

const namingWarning = "this server uses vendor-neutral names (--naming platform); " +
	"kubectl, Helm and controllers expect those of troupe serve --naming kubernetes"

// warnNaming warns a client that expects Kubernetes names, once per connection. The User-Agent
// identifies such clients. For example, client-go's contains " kubernetes/". warnNaming is called
// only for the platform profile.
func (s *Server) warnNaming(x *requestContext) {
	agent := x.ctx.UserAgent()
	if bytes.Contains(agent, []byte(" kubernetes/")) || bytes.HasPrefix(agent, []byte("kubectl/")) || bytes.HasPrefix(agent, []byte("Helm/")) {
		x.conn.warnedNaming = true
		x.addWarnings([]string{namingWarning})
	}
}

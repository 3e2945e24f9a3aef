package http

import "bytes"

const namingWarning = "this server uses vendor-neutral names (--naming platform); " +
	"kubectl, Helm and controllers expect those of troupe serve --naming kubernetes"

// warnNaming warns a client of the profile platform that expects the names of Kubernetes, once per
// connection. client-go puts " kubernetes/" into the User-Agent of every program.
func (s *Server) warnNaming(x *requestContext) {
	agent := x.ctx.UserAgent()
	if bytes.Contains(agent, []byte(" kubernetes/")) || bytes.HasPrefix(agent, []byte("kubectl/")) || bytes.HasPrefix(agent, []byte("Helm/")) {
		x.conn.warnedNaming = true
		x.addWarnings([]string{namingWarning})
	}
}

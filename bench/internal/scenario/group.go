package scenario

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
)

// group finds the API group whose name begins with prefix and a dot, under the names of the server, and
// returns its name. Servers of other names for the same API can thus be measured alike.
func (s *Session) group(prefix string) (string, error) {
	target := *s.Target
	target.Accept = "" // JSON, whatever the clients of the workload speak
	c := target.Conn()
	defer c.Close()
	answer, err := c.Expect(http.StatusOK, http.MethodGet, "/apis", "", nil)
	if err != nil {
		return "", err
	}
	// Only the names are read: workloads say themselves which version they use.
	var list struct {
		Groups []struct {
			Name string `json:"name"`
		} `json:"groups"`
	}
	if err := json.Unmarshal(answer, &list); err != nil {
		return "", fmt.Errorf("discovery: %w", err)
	}
	for _, g := range list.Groups {
		if strings.HasPrefix(g.Name, prefix+".") {
			return g.Name, nil
		}
	}
	return "", fmt.Errorf("the server has no API group %s.*", prefix)
}

package extension

import (
	"encoding/json"
	"strings"

	"github.com/troupe-api/troupe/test/client"
)

func owners(o client.Object) string {
	var lines []string
	list, _ := o.Metadata()["managedFields"].([]any)
	for _, entry := range list {
		m := entry.(map[string]any)
		fields, _ := json.Marshal(m["fieldsV1"])
		lines = append(lines, m["manager"].(string)+" "+m["operation"].(string)+" "+string(fields))
	}
	return strings.Join(lines, "\n")
}

func (s customSession) accept(code int, path, format string) client.Answer {
	s.T.Helper()
	answer, err := s.GetAs(s.Ctx, path, format)
	if err != nil || answer.Code != code {
		s.T.Fatalf("%s as %s: %v, %v, want %d", path, format, answer, err, code)
	}
	return answer
}

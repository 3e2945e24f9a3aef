package present

import "strings"

// showQuota writes used/hard of every resource that is a limit, or is none.
func showQuota(b []byte, r *row, which string) []byte {
	var parts []string
	used := r.json.at("status.used")
	for _, name := range r.json.at("status.hard").keys() {
		if strings.HasPrefix(name, "limits.") != (which == "limits") {
			continue
		}
		amount := used.field(name).plain()
		if amount == "" {
			amount = "0"
		}
		parts = append(parts, name+": "+amount+"/"+r.json.at("status.hard").field(name).plain())
	}
	return appendText(b, strings.Join(parts, ", "))
}

package audit

import (
	"cmp"
	"strconv"
	"time"
)

// appendLegacy appends the Event as one line in legacy format. Values are quoted as in Go, such as
// user="system:admin", so that a name with a space or newline stays one value.
func (e *Event) appendLegacy(b []byte) []byte {
	b = e.ReceivedTimestamp.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, " AUDIT:"...)
	b = appendPair(b, "id", e.ID)
	b = appendPair(b, "stage", e.Stage.String())
	ip := "<unknown>"
	if len(e.SourceIPs) > 0 {
		ip = e.SourceIPs[0].String()
	}
	b = appendPair(b, "ip", ip)
	b = appendPair(b, "method", e.Verb)
	b = e.appendUsers(b)
	b = appendPair(b, "user-agent", e.UserAgent)
	b = appendPair(b, "namespace", cmp.Or(e.Object.Namespace, "<none>"))
	b = appendPair(b, "uri", e.URI)
	response := "<deferred>"
	if e.Code != 0 {
		response = strconv.Itoa(e.Code)
	}
	b = appendPair(b, "response", response)
	return append(b, '\n')
}

// appendUsers appends the user and the impersonated user. Each group is quoted, and so is the
// joined list.
func (e *Event) appendUsers(b []byte) []byte {
	user, groups := "<none>", "<none>"
	if e.User != nil && e.User.Name != "" {
		user = e.User.Name
		if len(e.User.Groups) > 0 {
			groups = string(appendQuotedList(nil, e.User.Groups))
		}
	}
	as, asGroups := "<self>", "<lookup>"
	if e.ImpersonatedUser != nil {
		as = e.ImpersonatedUser.Name
		if e.ImpersonatedUser.Groups != nil {
			asGroups = string(appendQuotedList(nil, e.ImpersonatedUser.Groups))
		}
	}
	b = appendPair(b, "user", user)
	b = appendPair(b, "groups", groups)
	b = appendPair(b, "as", as)
	return appendPair(b, "asgroups", asGroups)
}

func appendPair(b []byte, name, value string) []byte {
	b = append(b, ' ')
	b = append(b, name...)
	b = append(b, '=')
	return strconv.AppendQuote(b, value)
}

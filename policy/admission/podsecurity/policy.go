package podsecurity

// A LevelVersion is the requirement of one mode.
type LevelVersion struct {
	Level   Level
	Version Version
}

// String returns text such as "restricted:v1.35".
func (lv LevelVersion) String() string { return lv.Level.String() + ":" + lv.Version.String() }

// equivalent reports whether both require the same. Versions do not matter at the privileged level.
func (lv LevelVersion) equivalent(other LevelVersion) bool {
	return lv == other || lv.Level == Privileged && other.Level == Privileged
}

// A Policy holds the requirements of a namespace: Enforce refuses, Audit records in the audit
// event, Warn warns the user. The zero Policy allows everything.
type Policy struct{ Enforce, Audit, Warn LevelVersion }

func (p Policy) isPrivileged() bool {
	return p.Enforce.Level == Privileged && p.Audit.Level == Privileged && p.Warn.Level == Privileged
}

func (p Policy) equivalent(other Policy) bool {
	return p.Enforce.equivalent(other.Enforce) && p.Audit.equivalent(other.Audit) && p.Warn.equivalent(other.Warn)
}

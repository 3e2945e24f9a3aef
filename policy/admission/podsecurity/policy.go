package podsecurity

// A LevelVersion is the level and version of one mode.
type LevelVersion struct {
	Level   Level
	Version Version
}

// String returns the level and version, as in "restricted:v1.35".
func (lv LevelVersion) String() string { return lv.Level.String() + ":" + lv.Version.String() }

// equivalent is like ==, but ignores versions at the privileged level, which has no checks.
func (lv LevelVersion) equivalent(other LevelVersion) bool {
	return lv == other || lv.Level == Privileged && other.Level == Privileged
}

// Policy holds a namespace's requirements. Enforce rejects violating Pods, Audit records violations
// in the audit event, and Warn returns warnings. The zero Policy allows everything.
type Policy struct{ Enforce, Audit, Warn LevelVersion }

func (p Policy) isPrivileged() bool {
	return p.Enforce.Level == Privileged && p.Audit.Level == Privileged && p.Warn.Level == Privileged
}

func (p Policy) equivalent(other Policy) bool {
	return p.Enforce.equivalent(other.Enforce) && p.Audit.equivalent(other.Audit) && p.Warn.equivalent(other.Warn)
}

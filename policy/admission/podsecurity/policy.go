package podsecurity

// A LevelVersion is what one mode of a Policy demands.
type LevelVersion struct {
	Level   Level
	Version Version
}

// String is as in "restricted:v1.35".
func (lv LevelVersion) String() string { return lv.Level.String() + ":" + lv.Version.String() }

// equivalent tells whether two demand the same: of the privileged level, versions say nothing.
func (lv LevelVersion) equivalent(other LevelVersion) bool {
	return lv == other || lv.Level == Privileged && other.Level == Privileged
}

// A Policy is what counts in a namespace: what violates Enforce is refused, what violates Audit is noted
// in the audit, and of what violates Warn the user is warned. The zero Policy allows everything.
type Policy struct{ Enforce, Audit, Warn LevelVersion }

// isPrivileged tells whether the policy allows everything, in all modes.
func (p Policy) isPrivileged() bool {
	return p.Enforce.Level == Privileged && p.Audit.Level == Privileged && p.Warn.Level == Privileged
}

func (p Policy) equivalent(other Policy) bool {
	return p.Enforce.equivalent(other.Enforce) && p.Audit.equivalent(other.Audit) && p.Warn.equivalent(other.Warn)
}

// Package features knows the feature gates: switches of single features, by the names that the flag --feature-gates has
// in the API server that clients know.
//
//	Gate  one of them: its stage, its default, and whether anything here depends on it
//	Set   what each of them is, by the defaults and by what was set
//
// gates.go lists all of them in one table. Those that nothing depends on here are accepted, so that a configuration that
// is good for another server is good for this one, and are named by Set.Ineffective. What a gate switches is told of it
// by an option of its own: no package asks for a gate by its name but the wiring.
//
// A Set never changes after New, so any number of goroutines may read it without a lock.
package features

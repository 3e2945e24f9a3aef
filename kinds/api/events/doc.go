// Package events holds the rules of Events, which are stored in the version of the core group. The
// group events serves them with other field names and requires more fields in new Events.
package events

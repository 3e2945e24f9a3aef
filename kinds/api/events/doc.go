// Package events holds the rules of Events. The core group stores them; the group events serves
// them with other field names and requires more fields of new ones.
package events

package recording

import "time"

// Schema is the major version of the format.
const Schema = 1

// A Header says where and how a recording was made.
type Header struct {
	Schema    int               `json:"netwatch"`
	Version   string            `json:"version"`
	Commit    string            `json:"commit,omitempty"` // it was built from, where that is known
	Host      string            `json:"host"`
	Here      string            `json:"here,omitempty"` // what its lines call this host; without it a line that names no host is of this one
	OS        string            `json:"os"`
	Kernel    string            `json:"kernel,omitempty"`
	Interface string            `json:"interface,omitempty"`
	Driver    string            `json:"driver,omitempty"`
	Options   map[string]string `json:"options,omitempty"`
	Command   []string          `json:"command,omitempty"` // the load, as it was started
	Start     time.Time         `json:"start"`
	Simulated string            `json:"simulated,omitempty"` // "SIMULATED" when no figure was measured
}

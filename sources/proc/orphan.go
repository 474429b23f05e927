package proc

import "runtime"

// begin starts the command. One that is not Detached shall not outlive netwatch, also when
// that is killed. Linux tells it when the thread ends that started it: that one is kept as
// long as the child.
func (c *Child) begin() error {
	if c.spec.Detached {
		return c.cmd.Start()
	}
	orphaned(c.cmd.SysProcAttr)
	begun := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := c.cmd.Start()
		if begun <- err; err == nil {
			<-c.exited
		}
	}()
	return <-begun
}

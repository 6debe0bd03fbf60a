package dev.warmpath.router;

import com.sun.management.UnixOperatingSystemMXBean;
import java.lang.management.ManagementFactory;

/**
 * What the machine gives a router that is started like this process.
 *
 * @param openFiles most files and connections, 0 if that is not known
 * @param heapBytes largest Java heap
 */
public record HostFacts(long openFiles, long heapBytes) {

  /** How to get more open files, or to need fewer. */
  public static final String MORE_FILES =
      "raise the limit (LimitNOFILE= of systemd, --ulimit nofile of containers, ulimit -n), or"
          + " lower `limits.connections` and `limits.requests`";

  /** What this process is given. */
  public static HostFacts ofTheMachine() {
    long files =
        ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix
            ? unix.getMaxFileDescriptorCount()
            : 0;
    return new HostFacts(files, Runtime.getRuntime().maxMemory());
  }
}

package dev.warmpath.lab.bench;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.LongStream;

/**
 * Reads what Linux shows in {@code /proc}: CPU times, memory and threads, and the processes that
 * listen on a port.
 *
 * <p>Thread-safe.
 *
 * @param root {@code /proc}
 */
public record ProcFiles(Path root) {

  private static final int USER_TICKS = 11; // fields behind the name, the state being 0
  private static final int SYSTEM_TICKS = 12;
  private static final int LOCAL_ADDRESS = 1;
  private static final int STATE = 3;
  private static final int INODE = 9;
  private static final String LISTEN = "0A";
  private static final int IDLE = 4; // of the machine's own line
  private static final int WAITING_FOR_DISK = 5;
  private static final int LAST_STATE = 8;

  /** Those of this machine. */
  public static ProcFiles ofTheMachine() throws IOException {
    ProcFiles files = new ProcFiles(Path.of("/proc"));
    if (!Files.isReadable(files.root.resolve("self/stat"))) {
      throw new IOException("no /proc here: CPU times of processes are read from Linux's /proc");
    }
    return files;
  }

  /**
   * CPU time of these processes so far.
   *
   * @throws IOException if one of them has ended
   */
  public CpuTime cpuTime(Set<Long> pids) throws IOException {
    CpuTime sum = CpuTime.ZERO;
    for (long pid : pids) {
      sum = sum.plus(cpuTime(pid));
    }
    return sum;
  }

  /**
   * What some processes occupy.
   *
   * @param residentBytes memory in RAM, shared pages counted for each process
   * @param threads kernel threads
   */
  public record Footprint(long residentBytes, int threads) {

    /** Resident memory in MiB. */
    public double residentMib() {
      return residentBytes / (double) (1 << 20);
    }
  }

  /**
   * Memory and threads of these processes now.
   *
   * @throws IOException if one of them has ended
   */
  public Footprint footprint(Set<Long> pids) throws IOException {
    long bytes = 0;
    int threads = 0;
    for (long pid : pids) {
      for (String line : processText(pid, "status").lines().toList()) {
        String[] fields = line.split("\\s+", -1);
        switch (fields[0]) {
          case "VmRSS:" -> bytes += Long.parseLong(fields[1]) << 10;
          case "Threads:" -> threads += Integer.parseInt(fields[1]);
          default -> {}
        }
      }
    }
    return new Footprint(bytes, threads);
  }

  /** The processes that listen on a TCP port, on whatever address; empty if none can be seen. */
  public Set<Long> listeners(int port) throws IOException {
    Set<String> sockets = new TreeSet<>();
    for (String table : List.of("net/tcp", "net/tcp6")) {
      Path file = root.resolve(table);
      if (Files.isReadable(file)) {
        Files.readAllLines(file).stream()
            .map(line -> line.strip().split("\\s+", -1))
            .filter(fields -> listensOn(fields, port))
            .forEach(fields -> sockets.add("socket:[" + fields[INODE] + "]"));
      }
    }
    Set<Long> owners = new TreeSet<>();
    for (Path process : list(root, "[0-9]*")) {
      if (holdsAny(process, sockets)) {
        owners.add(Long.valueOf(process.getFileName().toString()));
      }
    }
    return owners;
  }

  /** Time of all processors together so far. */
  public MachineTime machineTime() throws IOException {
    String[] fields =
        text(root.resolve("stat")).lines().findFirst().orElseThrow().split("\\s+", -1);
    long all = 0;
    for (int i = 1; i <= LAST_STATE; i++) {
      all += Long.parseLong(fields[i]);
    }
    long idle = Long.parseLong(fields[IDLE]) + Long.parseLong(fields[WAITING_FOR_DISK]);
    return new MachineTime(all - idle, all);
  }

  private CpuTime cpuTime(long pid) throws IOException {
    String stat = processText(pid, "stat");
    String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ", -1);
    long ticks = Long.parseLong(fields[USER_TICKS]) + Long.parseLong(fields[SYSTEM_TICKS]);
    return new CpuTime(ticks * CpuTime.NANOS_PER_TICK, threadNanos(process(pid)));
  }

  private Path process(long pid) {
    return root.resolve(Long.toString(pid));
  }

  private String processText(long pid, String file) throws IOException {
    try {
      return text(process(pid).resolve(file));
    } catch (IOException e) {
      throw new IOException("process " + pid + " has ended", e);
    }
  }

  private static long threadNanos(Path process) {
    long[] threads =
        list(process.resolve("task"), "*").stream()
            .mapToLong(ProcFiles::onProcessorNanos)
            .filter(nanos -> nanos != CpuTime.ABSENT)
            .toArray();
    return threads.length == 0 ? CpuTime.ABSENT : LongStream.of(threads).sum();
  }

  /** Absent if the thread has ended, or the kernel keeps no such statistics. */
  private static long onProcessorNanos(Path thread) {
    try {
      String text = text(thread.resolve("schedstat"));
      return Long.parseLong(text.substring(0, text.indexOf(' ')));
    } catch (IOException e) {
      return CpuTime.ABSENT;
    }
  }

  private static boolean listensOn(String[] fields, int port) {
    return fields.length > INODE
        && fields[STATE].equals(LISTEN)
        && fields[LOCAL_ADDRESS].endsWith(":%04X".formatted(port));
  }

  private static boolean holdsAny(Path process, Set<String> sockets) {
    return list(process.resolve("fd"), "*").stream()
        .anyMatch(descriptor -> sockets.contains(target(descriptor)));
  }

  /** What a descriptor stands for; empty if it is closed meanwhile. */
  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return "";
    }
  }

  /** What is in a folder; nothing if it is gone or not ours to read. */
  private static List<Path> list(Path folder, String glob) {
    List<Path> found = new ArrayList<>();
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, glob)) {
      files.forEach(found::add);
    } catch (IOException | DirectoryIteratorException e) {
      return found;
    }
    return found;
  }

  private static String text(Path file) throws IOException {
    return Files.readString(file, StandardCharsets.ISO_8859_1).strip();
  }

  /**
   * CPU time that some processes have used so far, read twice: exact but rough, and fine but
   * without threads that have ended.
   *
   * @param tickNanos user and system time of the processes, ended threads included, in whole clock
   *     ticks
   * @param threadNanos time on a processor of the threads that live, to the nanosecond; {@link
   *     #ABSENT} where the kernel keeps no such statistics
   */
  public record CpuTime(long tickNanos, long threadNanos) {

    /** Linux shows times in hundredths of a second, whatever its own clock does. */
    static final long NANOS_PER_TICK = 10_000_000;

    static final long ABSENT = -1;

    /** User and system time are rounded down, at either end of a measurement. */
    private static final long ROUNDING_NANOS = 2 * NANOS_PER_TICK;

    /** Of processes that have not run. */
    public static final CpuTime ZERO = new CpuTime(0, 0);

    CpuTime plus(CpuTime other) {
      boolean fine = threadNanos != ABSENT && other.threadNanos != ABSENT;
      return new CpuTime(
          tickNanos + other.tickNanos, fine ? threadNanos + other.threadNanos : ABSENT);
    }

    /**
     * Nanoseconds of CPU time since {@code begin}: the fine figure if it agrees with the rough one,
     * else the rough one, as threads have ended in between.
     */
    public long nanosSince(CpuTime begin) {
      long rough = tickNanos - begin.tickNanos;
      if (threadNanos == ABSENT || begin.threadNanos == ABSENT) {
        return rough;
      }
      long fine = threadNanos - begin.threadNanos;
      return fine >= 0 && Math.abs(fine - rough) <= ROUNDING_NANOS ? fine : rough;
    }
  }

  /**
   * Time of all processors of the machine so far.
   *
   * @param busyTicks of these, those in which a processor had work
   */
  public record MachineTime(long busyTicks, long ticks) {

    /** Share of the processors that had work since {@code begin}, 0 to 1. */
    public double busyShareSince(MachineTime begin) {
      return (double) (busyTicks - begin.busyTicks) / Math.max(1, ticks - begin.ticks);
    }
  }
}

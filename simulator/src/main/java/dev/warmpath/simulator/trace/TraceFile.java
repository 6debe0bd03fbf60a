package dev.warmpath.simulator.trace;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.kvindex.block.BlockChain;
import dev.warmpath.kvindex.block.ChainSpace;
import dev.warmpath.kvindex.block.PromptKeys;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.zip.GZIPInputStream;
import org.jspecify.annotations.Nullable;

/** Reads recorded workloads; those whose name ends with {@code .gz} are unpacked. */
public final class TraceFile {

  private TraceFile() {}

  /**
   * Reads the first {@code limit} lines, or requests of a capture, of {@code file}; empty lines say
   * nothing.
   *
   * @throws TraceException if a line is not of the format, or there is none
   * @throws IOException if the file cannot be read; the message names it
   */
  public static Trace read(Path file, TraceFormat format, int limit)
      throws IOException, TraceException {
    TraceBuilder trace;
    try {
      TraceFormat.Lines lines = format.reader();
      trace =
          lines == null
              ? CaptureTrace.read(name(file, ".wpc"), file, limit)
              : lines(
                  file, new TraceBuilder(name(file, "."), format.blockSizeTokens()), lines, limit);
    } catch (NoSuchFileException e) {
      throw new IOException("no such file: " + file, e);
    }
    if (trace.requests() == 0) {
      throw new TraceException(file + ": no requests of the format '" + format.label() + "'");
    }
    return trace.build();
  }

  private static TraceBuilder lines(
      Path file, TraceBuilder trace, TraceFormat.Lines lines, int limit)
      throws IOException, TraceException {
    try (BufferedReader reader = open(file)) {
      String line = reader.readLine();
      for (int number = 1; line != null && number <= limit; number++) {
        try {
          if (!line.isBlank()) {
            lines.line(line, trace);
          }
        } catch (IllegalArgumentException e) {
          throw new TraceException(file + ": line " + number + ": " + e.getMessage());
        }
        line = reader.readLine();
      }
    } catch (NoSuchFileException e) {
      throw e;
    } catch (IOException e) {
      throw new IOException(file + ": " + e.getMessage(), e);
    }
    try {
      lines.end(trace);
    } catch (IllegalArgumentException e) {
      throw new TraceException(file + ": " + e.getMessage());
    }
    return trace;
  }

  /** The file's name up to {@code end}. */
  private static String name(Path file, String end) {
    String name = String.valueOf(file.getFileName());
    int at = name.indexOf(end);
    return at > 0 ? name.substring(0, at) : name;
  }

  static BufferedReader open(Path file) throws IOException {
    InputStream bytes = Files.newInputStream(file);
    try {
      InputStream plain = file.toString().endsWith(".gz") ? new GZIPInputStream(bytes) : bytes;
      return new BufferedReader(new InputStreamReader(plain, StandardCharsets.UTF_8));
    } catch (IOException e) {
      bytes.close();
      throw e;
    }
  }

  /**
   * The requests of a capture, of all engines in it, at their recorded times. Their blocks follow
   * from their token ids, adapters and salts; a request that reads no cache shares none. Requests
   * without token ids, and those that were not answered, are left out; an answer whose length is
   * not recorded has one token.
   *
   * <p>Confined to its caller's thread.
   */
  private static final class CaptureTrace {

    /** For captures that do not say how long blocks are. */
    private static final int USUAL_BLOCK_TOKENS = 16;

    private static final long OK = 200;

    /** A request and its response, null if there is none. */
    private record Asked(Request request, @Nullable Response response) {
      /** Whether the engine, or the router that recorded, says that it was answered to the end. */
      boolean answered() {
        if (response == null) {
          return false;
        }
        Object status = response.result().get("status");
        Object outcome = response.result().get("outcome");
        return (status == null || status.equals(OK))
            && (outcome == null || outcome.equals("completed"));
      }

      int answerTokens() {
        return response != null && response.result().get("completion_tokens") instanceof Long tokens
            ? (int) Math.min(tokens, TraceBuilder.MOST_TOKENS)
            : 1;
      }

      PromptKeys keys() {
        String salt = request.text("cache_salt");
        String extraKey = request.text("extra_key");
        boolean plain = salt == null && extraKey == null;
        return new PromptKeys(request.text("lora_name"), plain ? null : salt + "/" + extraKey);
      }

      boolean readsCache() {
        return request.body().get("prompt_logprobs") == null
            && !Boolean.FALSE.equals(request.body().get("reads_cache"));
      }
    }

    private final CaptureHeader header;
    private final int blockSizeTokens;
    private final TraceBuilder trace;
    private final Map<Long, Integer> numbers = new HashMap<>();
    private double beginSeconds = Double.NaN;

    private CaptureTrace(String name, CaptureHeader header) {
      this.header = header;
      blockSizeTokens =
          header.streams().stream()
              .mapToInt(CaptureStream::blockSizeTokens)
              .filter(tokens -> tokens > 0)
              .min()
              .orElse(USUAL_BLOCK_TOKENS);
      trace = new TraceBuilder(name, blockSizeTokens);
    }

    /**
     * The first {@code limit} requests of a file.
     *
     * @throws IOException if it is no capture, saying which file and where
     */
    static TraceBuilder read(String name, Path file, int limit) throws IOException {
      try (CaptureReader reader = CaptureReader.open(file)) {
        CaptureTrace capture = new CaptureTrace(name, reader.header());
        for (Asked asked : asked(reader, limit)) {
          capture.add(asked);
        }
        return capture.trace;
      }
    }

    private static List<Asked> asked(CaptureReader reader, int limit) throws IOException {
      List<Asked> all = new ArrayList<>();
      Map<String, Integer> open = new HashMap<>();
      CaptureRecord record = reader.next();
      while (record != null && (all.size() < limit || !open.isEmpty())) {
        if (record instanceof Request request && all.size() < limit) {
          open.put(key(request, request.requestId()), all.size());
          all.add(new Asked(request, null));
        } else if (record instanceof Response response) {
          Integer place = open.remove(key(response, response.requestId()));
          if (place != null) {
            all.set(place, new Asked(all.get(place).request, response));
          }
        }
        record = reader.next();
      }
      return all;
    }

    private static String key(CaptureRecord record, String requestId) {
      return record.stream() + "/" + requestId;
    }

    private void add(Asked asked) {
      int[] tokenIds = asked.request.tokenIds();
      if (!asked.answered() || tokenIds == null || tokenIds.length == 0) {
        return;
      }
      double seconds = asked.request.timeSeconds();
      beginSeconds = Double.isNaN(beginSeconds) ? seconds : beginSeconds;
      trace.request(
          Math.max(0, seconds - beginSeconds),
          Trace.NONE,
          Trace.NONE,
          tokenIds.length,
          asked.answerTokens());
      if (asked.readsCache()) {
        addBlocks(BlockChain.of(space(asked.request.stream()), tokenIds, asked.keys()));
      }
    }

    private ChainSpace space(int stream) {
      String model = header.stream(stream).map(CaptureStream::model).orElse("");
      return new ChainSpace(model, blockSizeTokens, 0);
    }

    private void addBlocks(BlockChain chain) {
      for (int i = 0; i < chain.blocks(); i++) {
        trace.blocks(numbers.computeIfAbsent(chain.blockKey(i), key -> numbers.size()), 1);
      }
    }
  }
}

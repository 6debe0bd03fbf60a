package dev.warmpath.simulator.cli;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureHeader.CaptureStream;
import dev.warmpath.eventingest.capture.CaptureReader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.wire.BlockPlace;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.EventColumns.SkipReason;
import dev.warmpath.eventingest.wire.EventRow;
import dev.warmpath.eventingest.wire.Naming;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.eventingest.wire.WireException;
import dev.warmpath.kvindex.block.ExtraKey;
import dev.warmpath.router.cli.CommandException;
import dev.warmpath.router.cli.Exit;
import dev.warmpath.router.cli.WarmpathCommand;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/**
 * {@code warmpath replay inspect}: prints a capture, an event a line.
 *
 * <p>Confined to the main thread.
 */
@Command(
    name = "inspect",
    description = {
      "Prints a capture, one line an event.",
      "Token ids and prompts are counted, not printed."
    },
    mixinStandardHelpOptions = true,
    footer = {"", "Example: warmpath replay inspect --limit 20 vllm.wpc.gz"})
final class InspectCommand implements WarmpathCommand {

  @SuppressWarnings("NullAway.Init")
  @Spec
  private CommandSpec spec;

  @SuppressWarnings("NullAway.Init")
  @Parameters(paramLabel = "FILE", description = "The capture file.")
  private Path file;

  @Option(
      names = "--limit",
      paramLabel = "N",
      description = "Stop after N records; 0, the default, prints them all.",
      defaultValue = "0")
  private long limit;

  @Override
  public Integer call() {
    if (limit < 0) {
      throw CommandException.usage("--limit " + limit + ": must be at least 0");
    }
    try (CaptureReader reader = CaptureFiles.open(file)) {
      print(reader);
    } catch (IOException e) {
      throw CaptureFiles.failure(file, e);
    }
    return Exit.OK;
  }

  private void print(CaptureReader reader) throws IOException {
    PrintWriter out = spec.commandLine().getOut();
    CaptureLines lines = new CaptureLines(reader.header());
    lines.header().forEach(out::println);
    CaptureRecord record = reader.next();
    for (long printed = 0; record != null && (limit == 0 || printed < limit); printed++) {
      lines.of(record).forEach(out::println);
      record = reader.next();
    }
    out.flush();
    if (reader.truncated()) {
      spec.commandLine().getErr().println(file + ": ends inside a record; the rest is missing");
    }
  }

  /**
   * Puts the records of a capture into lines for people: one a record, and one an event where a
   * record holds several.
   *
   * <p>Token ids and prompts are counted, never printed.
   *
   * <p>Confined to one thread.
   */
  private static final class CaptureLines {

    private final CaptureHeader header;
    private final ColumnDecoder decoder = new ColumnDecoder();

    CaptureLines(CaptureHeader header) {
      this.header = header;
    }

    /** The header: one line for the file, one for each stream. */
    List<String> header() {
      List<String> lines = new ArrayList<>();
      lines.add("capture of " + header.created() + ": " + header.note());
      header.streams().forEach(stream -> lines.add(of(stream)));
      return lines;
    }

    /** The lines of one record. */
    List<String> of(CaptureRecord record) {
      String start = String.format(Locale.ROOT, "%10.3f %s ", record.timeSeconds(), name(record));
      return said(record).stream().map(said -> (start + said).stripTrailing()).toList();
    }

    private static String of(CaptureStream stream) {
      String engine = (stream.engine() + " " + stream.engineVersion()).strip();
      int blockSize = stream.blockSizeTokens();
      return "stream %d: %s rank %d, %s, model %s, blocks of %s"
          .formatted(
              stream.id(),
              stream.replica(),
              stream.dpRank(),
              engine,
              stream.model(),
              blockSize == 0 ? "unknown size" : blockSize);
    }

    private List<String> said(CaptureRecord record) {
      if (record instanceof Events it) {
        return events("#" + Long.toUnsignedString(it.sequence()) + " ", it.payload());
      }
      if (record instanceof Replay it) {
        return replay(it);
      }
      if (record instanceof Request it) {
        return List.of("request " + it.requestId() + " " + EventText.summary(it.body()));
      }
      if (record instanceof Response it) {
        return List.of("response " + it.requestId() + " " + EventText.summary(it.result()));
      }
      Mark it = (Mark) record;
      return List.of("mark " + it.name() + " " + EventText.summary(it.detail()));
    }

    private List<String> replay(Replay replay) {
      List<String> lines = new ArrayList<>();
      lines.add(
          "replay from #%s: %d replies"
              .formatted(Long.toUnsignedString(replay.startSequence()), replay.replies().size()));
      for (List<byte[]> frames : replay.replies()) {
        StreamMessage reply = StreamMessage.ofReply(frames);
        if (reply == null) {
          lines.add("replay: a reply of " + frames.size() + " frames");
        } else if (!reply.endsReplay()) {
          String start = "replay #" + Long.toUnsignedString(reply.sequence()) + " ";
          lines.addAll(events(start, reply.payload()));
        }
      }
      return lines;
    }

    private List<String> events(String start, byte[] payload) {
      EventColumns batch;
      try {
        batch = decoder.decode(payload);
      } catch (WireException e) {
        return List.of(start + "undecodable: " + e.getMessage());
      }
      List<String> lines = new ArrayList<>();
      for (int i = 0; i < batch.events(); i++) {
        lines.add(start + EventText.of(batch.row(i)));
      }
      for (SkipReason reason : SkipReason.values()) {
        if (batch.skipped(reason) > 0) {
          lines.add(start + "skipped " + batch.skipped(reason) + " " + reason.label());
        }
      }
      if (lines.isEmpty()) {
        lines.add(start + "no events");
      }
      return lines;
    }

    private String name(CaptureRecord record) {
      if (record.stream() == CaptureRecord.NO_STREAM) {
        return "-";
      }
      return header.stream(record.stream())
          .map(CaptureStream::replica)
          .orElse("stream " + record.stream());
    }

    /** Events and request bodies in a few words. */
    private static final class EventText {

      private static final int MOST_HASHES = 4;
      private static final int MOST_CHARACTERS = 40;

      private EventText() {}

      static String of(EventRow event) {
        return switch (event.kind()) {
          case STORED -> stored(event);
          case REMOVED ->
              "BlockRemoved " + place(event.place()) + " " + hashes(event.engineHashes());
          case CLEARED -> "AllBlocksCleared";
        };
      }

      /** A map's short values; lists and maps by their size, long texts by their length. */
      static String summary(Map<String, @Nullable Object> map) {
        return map.entrySet().stream()
            .map(entry -> entry.getKey() + "=" + brief(entry.getValue()))
            .collect(Collectors.joining(" "));
      }

      private static String stored(EventRow stored) {
        List<String> words = new ArrayList<>();
        words.add("BlockStored " + place(stored.place()));
        words.add(hashes(stored.engineHashes()));
        words.add(stored.atRoot() ? "at root" : "after " + hex(stored.parent()));
        words.add(stored.plainTokens() + " tokens / " + stored.blockSizeTokens());
        if (stored.lookaheadTokens() > 0) {
          words.add("lookahead " + stored.lookaheadTokens());
        }
        if (stored.spec().kind() != null) {
          words.add(stored.spec().kind());
        }
        if (stored.naming() == Naming.DENSE) {
          words.addAll(keys(stored));
        } else {
          words.add(stored.naming().label());
        }
        return String.join(" ", words);
      }

      /** Each extra key once, however many blocks carry it. */
      private static Set<String> keys(EventRow stored) {
        Set<String> words = new LinkedHashSet<>();
        for (int i = 0; i < stored.hashCount(); i++) {
          stored.extraKeys(i).forEach(key -> words.add(key(key)));
        }
        return words;
      }

      private static String key(ExtraKey key) {
        if (key instanceof ExtraKey.Lora lora) {
          return "lora=" + lora.name();
        }
        if (key instanceof ExtraKey.Multimodal item) {
          return "mm=" + item.identifier() + "@" + item.offset();
        }
        return key instanceof ExtraKey.CacheSalt ? "salted" : "embeds";
      }

      private static String place(BlockPlace place) {
        String where = place.medium() + " group " + place.groupIdx();
        return place.locality() == null ? where : where + " " + place.locality();
      }

      private static String hashes(long[] hashes) {
        String first =
            Arrays.stream(hashes)
                .limit(MOST_HASHES)
                .mapToObj(EventText::hex)
                .collect(Collectors.joining(" "));
        String more = hashes.length > MOST_HASHES ? " and " + (hashes.length - MOST_HASHES) : "";
        return "[" + first + more + "]";
      }

      /** The upper half of a hash: enough to tell blocks apart by eye. */
      private static String hex(long hash) {
        return HexFormat.of().toHexDigits((int) (hash >>> Integer.SIZE));
      }

      private static String brief(@Nullable Object value) {
        if (value instanceof List<?> list) {
          return list.size() + " items";
        }
        if (value instanceof Map<?, ?> map) {
          return map.size() + " fields";
        }
        if (value instanceof byte[] bytes) {
          return bytes.length + " bytes";
        }
        if (value instanceof String text && text.length() > MOST_CHARACTERS) {
          return text.length() + " characters";
        }
        return String.valueOf(value);
      }
    }
  }
}

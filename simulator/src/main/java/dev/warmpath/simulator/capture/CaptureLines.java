package dev.warmpath.simulator.capture;

import dev.warmpath.eventingest.capture.CaptureHeader;
import dev.warmpath.eventingest.capture.CaptureRecord;
import dev.warmpath.eventingest.capture.CaptureRecord.Events;
import dev.warmpath.eventingest.capture.CaptureRecord.Mark;
import dev.warmpath.eventingest.capture.CaptureRecord.Replay;
import dev.warmpath.eventingest.capture.CaptureRecord.Request;
import dev.warmpath.eventingest.capture.CaptureRecord.Response;
import dev.warmpath.eventingest.capture.CaptureStream;
import dev.warmpath.eventingest.wire.ColumnDecoder;
import dev.warmpath.eventingest.wire.EventColumns;
import dev.warmpath.eventingest.wire.SkipReason;
import dev.warmpath.eventingest.wire.StreamMessage;
import dev.warmpath.eventingest.wire.WireException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Puts the records of a capture into lines for people: one a record, and one an event where a
 * record holds several.
 *
 * <p>Token ids and prompts are counted, never printed.
 *
 * <p>Confined to one thread.
 */
public final class CaptureLines {

  private final CaptureHeader header;
  private final ColumnDecoder decoder = new ColumnDecoder();

  public CaptureLines(CaptureHeader header) {
    this.header = header;
  }

  /** The header: one line for the file, one for each stream. */
  public List<String> header() {
    List<String> lines = new ArrayList<>();
    lines.add("capture of " + header.created() + ": " + header.note());
    header.streams().forEach(stream -> lines.add(of(stream)));
    return lines;
  }

  /** The lines of one record. */
  public List<String> of(CaptureRecord record) {
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
}

package dev.warmpath.router.cluster;

import dev.warmpath.router.cluster.Rows.ClientRow;
import dev.warmpath.router.cluster.Rows.EngineRow;
import dev.warmpath.router.cluster.Rows.QueueRow;
import dev.warmpath.router.cluster.Rows.ResponseRow;
import dev.warmpath.router.fleet.Booking;
import dev.warmpath.router.fleet.PrefillModel;
import dev.warmpath.router.fleet.PromptMarks;
import dev.warmpath.router.routing.PrefillCost;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageUnpacker;

/**
 * What routers send each other: two bytes, the kind and the {@linkplain #VERSION version}, then
 * MessagePack. Changes and whole states are one form, a sequence of records, each a tag and its
 * fields; a long one is cut into several messages, since what is merged in parts is merged whole.
 *
 * <pre>
 * ROWS    (tag fields…)*            WANTED  bits of what is asked for
 * DIGEST  of the rows, of the settings
 * </pre>
 */
final class ClusterMessage {

  static final byte ROWS = 1;
  static final byte WANTED = 2;
  static final byte DIGEST = 3;

  /** Another version is refused: its rows may mean something else. */
  static final byte VERSION = 1;

  /** Asks for a router's rows. */
  static final int ROWS_WANTED = 1;

  /** Asks for what operators said. */
  static final int SETTINGS_WANTED = 2;

  /** Asks where responses can be continued. */
  static final int RESPONSES_WANTED = 4;

  private static final int HEAD = 2;
  private static final int CUT_BYTES = 256 << 10;

  private static final int QUEUE = 0;
  private static final int BOOKED = 1;
  private static final int PREFILLED = 2;
  private static final int ENDED = 3;
  private static final int NOT_COMPUTED = 4;
  private static final int ENGINE = 5;
  private static final int CLIENT = 6;
  private static final int RESPONSE = 7;
  private static final int SETTING = 8;

  private static final int STREAMED = 1;
  private static final int KNOWN = 2;
  private static final int LONGEST_TEXT = 1 << 16;

  /** What somebody sent cannot be read. */
  static final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedException(String message, @Nullable Throwable cause) {
      super(message, cause);
    }
  }

  private ClusterMessage() {}

  /** Writes one record. */
  private interface Write<T> {
    void to(MessageBufferPacker out, T row) throws IOException;
  }

  /** Packs records into as many messages as it takes. */
  private static final class Writer {
    private final Consumer<byte[]> messages;
    private MessageBufferPacker out = begun();

    Writer(Consumer<byte[]> messages) {
      this.messages = messages;
    }

    private static MessageBufferPacker begun() {
      MessageBufferPacker out = MessagePack.newDefaultBufferPacker();
      try {
        out.addPayload(new byte[] {ROWS, VERSION});
      } catch (IOException e) {
        throw new IllegalStateException(e); // it writes to memory
      }
      return out;
    }

    <T> void all(Iterable<T> rows, Write<T> write) {
      for (T row : rows) {
        one(row, write);
      }
    }

    <T> void one(T row, Write<T> write) {
      try {
        write.to(out, row);
      } catch (IOException e) {
        throw new IllegalStateException(e); // it writes to memory
      }
      if (out.getTotalWrittenBytes() > CUT_BYTES) {
        end();
        out = begun();
      }
    }

    void end() {
      if (out.getTotalWrittenBytes() > HEAD) {
        messages.accept(out.toByteArray());
      }
    }
  }

  /** Writes rows; hands on a message, or several, or none if there are none. */
  static void write(Rows rows, Consumer<byte[]> messages) {
    Writer to = new Writer(messages);
    if (rows.queue.version() > 0) {
      to.one(rows.queue, ClusterMessage::queue);
    }
    to.all(rows.settings, ClusterMessage::setting);
    to.all(rows.booked, ClusterMessage::booked);
    to.all(rows.prefilled, (out, id) -> out.packInt(PREFILLED).packLong(id));
    to.all(rows.notComputed, (out, id) -> out.packInt(NOT_COMPUTED).packLong(id));
    rows.ended.forEach((from, last) ->
        to.one(from, (out, first) -> out.packInt(ENDED).packLong(first).packLong(last - first)));
    to.all(rows.engines, ClusterMessage::engine);
    to.all(rows.clients, ClusterMessage::client);
    to.all(rows.responses, ClusterMessage::response);
    to.end();
  }

  private static void queue(MessageBufferPacker out, QueueRow row) throws IOException {
    out.packInt(QUEUE).packLong(row.version()).packInt(row.waiting()).packLong(row.longestMillis());
  }

  private static void booked(MessageBufferPacker out, Rows.Booked row) throws IOException {
    Booking booking = row.booking();
    out.packInt(BOOKED).packLong(booking.id()).packString(booking.engine());
    out.packInt(booking.promptTokens()).packInt(booking.uncachedTokens());
    out.packInt((booking.streamed() ? STREAMED : 0) | (booking.known() ? KNOWN : 0));
    out.packInt(booking.heldBlocks()).packLong(row.ageMicros());
    PromptMarks marks = booking.marks();
    out.packInt(marks == null ? 0 : marks.count());
    for (int i = 0; marks != null && i < marks.count(); i++) {
      out.packInt(marks.at(i) - booking.heldBlocks()).packLong(marks.key(i));
    }
    out.packInt(booking.note().length);
    for (long word : booking.note()) {
      out.packLong(word);
    }
  }

  private static void engine(MessageBufferPacker out, EngineRow row) throws IOException {
    out.packInt(ENGINE).packString(row.engine()).packLong(row.version());
    PrefillModel.Speed speed = row.speed();
    out.packDouble(speed.overheadMillis()).packDouble(speed.cost().millisPerToken());
    out.packDouble(speed.cost().millisPerTokenPair()).packLong(speed.samples());
    out.packLong(row.ejectedMillis());
  }

  private static void client(MessageBufferPacker out, ClientRow row) throws IOException {
    out.packInt(CLIENT).packString(row.client()).packLong(row.version());
    out.packLong(row.requests()).packLong(row.tokens());
  }

  private static void response(MessageBufferPacker out, ResponseRow row) throws IOException {
    out.packInt(RESPONSE).packString(row.id()).packString(row.replica());
    text(out, row.client());
  }

  private static void setting(MessageBufferPacker out, LastWriterMap.Entry entry)
      throws IOException {
    out.packInt(SETTING).packString(entry.name()).packLong(entry.millis());
    out.packLong(entry.author());
    text(out, entry.value());
  }

  private static void text(MessageBufferPacker out, @Nullable String text) throws IOException {
    if (text == null) {
      out.packNil();
    } else {
      out.packString(text);
    }
  }

  /** Asks for what the bits say. */
  static byte[] wanted(int what) {
    return new byte[] {WANTED, VERSION, (byte) what};
  }

  /** What is asked for. */
  static int wanted(byte[] message) throws MalformedException {
    if (message.length != HEAD + 1) {
      throw new MalformedException("bytes=" + message.length, null);
    }
    return message[HEAD];
  }

  /** Both digests. */
  static byte[] digest(long rows, long settings) {
    try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
      out.addPayload(new byte[] {DIGEST, VERSION});
      out.packLong(rows).packLong(settings);
      return out.toByteArray();
    } catch (IOException e) {
      throw new IllegalStateException(e); // it writes to memory
    }
  }

  /** The digest of the rows, then that of the settings. */
  static long[] digest(byte[] message) throws MalformedException {
    return read(message, in -> new long[] {in.unpackLong(), in.unpackLong()});
  }

  /** Reads what follows a message's head. */
  private interface Read<T> {
    T from(MessageUnpacker in) throws IOException;
  }

  private static <T> T read(byte[] message, Read<T> read) throws MalformedException {
    try (MessageUnpacker in =
        MessagePack.newDefaultUnpacker(message, HEAD, message.length - HEAD)) {
      T whole = read.from(in);
      if (in.hasNext()) {
        throw new MalformedException("bytes behind the end", null);
      }
      return whole;
    } catch (IOException | MessagePackException | IllegalArgumentException e) {
      throw new MalformedException(String.valueOf(e.getMessage()), e);
    }
  }

  /** The rows of a message. */
  static Rows rows(byte[] message) throws MalformedException {
    return read(
        message,
        in -> {
          Rows rows = new Rows();
          while (in.hasNext()) {
            record(in, rows);
          }
          return rows;
        });
  }

  private static void record(MessageUnpacker in, Rows rows) throws IOException {
    int tag = in.unpackInt();
    switch (tag) {
      case QUEUE -> rows.queue = new QueueRow(in.unpackLong(), in.unpackInt(), in.unpackLong());
      case BOOKED -> rows.booked.add(booked(in));
      case PREFILLED -> rows.prefilled.add(in.unpackLong());
      case NOT_COMPUTED -> rows.notComputed.add(in.unpackLong());
      case ENDED -> {
        long from = in.unpackLong();
        rows.ended.add(from, Math.addExact(from, in.unpackLong()));
      }
      case ENGINE -> rows.engines.add(engine(in));
      case CLIENT ->
          rows.clients.add(
              new ClientRow(text(in), in.unpackLong(), in.unpackLong(), in.unpackLong()));
      case RESPONSE -> rows.responses.add(new ResponseRow(text(in), text(in), textOrNull(in)));
      case SETTING ->
          rows.settings.add(
              new LastWriterMap.Entry(text(in), in.unpackLong(), in.unpackLong(), textOrNull(in)));
      default -> throw new IllegalArgumentException("tag=" + tag);
    }
  }

  private static Rows.Booked booked(MessageUnpacker in) throws IOException {
    long id = in.unpackLong();
    String engine = text(in);
    int promptTokens = in.unpackInt();
    int uncachedTokens = in.unpackInt();
    int flags = in.unpackInt();
    int heldBlocks = in.unpackInt();
    long ageMicros = in.unpackLong();
    if (ageMicros < 0) {
      throw new IllegalArgumentException("ageMicros=" + ageMicros);
    }
    int count = count(in, PromptMarks.MOST);
    int[] at = new int[count];
    long[] keys = new long[count];
    for (int i = 0; i < count; i++) {
      at[i] = Math.addExact(heldBlocks, in.unpackInt());
      keys[i] = in.unpackLong();
    }
    long[] note = new long[count(in, Booking.LONGEST_NOTE)];
    for (int i = 0; i < note.length; i++) {
      note[i] = in.unpackLong();
    }
    return new Rows.Booked(
        new Booking(
            id,
            engine,
            promptTokens,
            uncachedTokens,
            (flags & STREAMED) != 0,
            (flags & KNOWN) != 0,
            heldBlocks,
            count == 0 ? null : PromptMarks.of(at, keys),
            note),
        ageMicros);
  }

  private static EngineRow engine(MessageUnpacker in) throws IOException {
    return new EngineRow(
        text(in),
        in.unpackLong(),
        new PrefillModel.Speed(
            in.unpackDouble(),
            new PrefillCost(in.unpackDouble(), in.unpackDouble()),
            in.unpackLong()),
        in.unpackLong());
  }

  private static int count(MessageUnpacker in, int most) throws IOException {
    int count = in.unpackInt();
    if (count < 0 || count > most) {
      throw new IllegalArgumentException("count=" + count);
    }
    return count;
  }

  private static @Nullable String textOrNull(MessageUnpacker in) throws IOException {
    return in.tryUnpackNil() ? null : text(in);
  }

  private static String text(MessageUnpacker in) throws IOException {
    int length = in.unpackRawStringHeader();
    if (length > LONGEST_TEXT) {
      throw new IllegalArgumentException("length=" + length);
    }
    return new String(in.readPayload(length), StandardCharsets.UTF_8);
  }
}

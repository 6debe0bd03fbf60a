package dev.warmpath.eventingest.capture;

import java.io.BufferedInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessageInsufficientBufferException;
import org.msgpack.core.MessagePackException;
import org.msgpack.core.MessageSizeException;

/**
 * Reads a capture file, plain or gzip-compressed, record by record.
 *
 * <p>A file that was cut, as a crash leaves it, gives every whole record; then {@link #next} is
 * null and {@link #truncated} true. Other damage is a {@link CaptureException}. Records of unknown
 * kinds are passed over.
 *
 * <p>Confined to its reader's thread.
 */
public final class CaptureReader implements AutoCloseable {

  /** The largest record that is read, in bytes. */
  public static final long MAX_RECORD_BYTES = 256L << 20;

  private final String name;
  private final PlainValues values;
  private final CaptureHeader header;
  private long records;
  private boolean truncated;

  private CaptureReader(String name, InputStream in) throws IOException {
    this.name = name;
    values = new PlainValues(in, MAX_RECORD_BYTES);
    header = readHeader();
  }

  /** Opens a file and reads its header. */
  public static CaptureReader open(Path file) throws IOException {
    if (Files.isDirectory(file)) {
      throw new CaptureException(file + ": is a directory");
    }
    return of(file.toString(), Files.newInputStream(file));
  }

  /** Reads from a stream that it closes, also when it cannot be read; errors say {@code name}. */
  public static CaptureReader of(String name, InputStream in) throws IOException {
    try {
      return new CaptureReader(name, decompressed(new BufferedInputStream(in)));
    } catch (EOFException e) {
      in.close();
      throw new CaptureException(name + ": ends inside the header", e);
    } catch (IOException | RuntimeException e) {
      in.close();
      throw e;
    }
  }

  public CaptureHeader header() {
    return header;
  }

  /** Whether the file ends inside a record. */
  public boolean truncated() {
    return truncated;
  }

  /** How many records have been read, those of unknown kinds included. */
  public long records() {
    return records;
  }

  /** The next record, or null behind the last one. */
  public @Nullable CaptureRecord next() throws IOException {
    CaptureRecord record = null;
    while (record == null && !truncated && more()) {
      Object value = read();
      if (!truncated) {
        record = record(value);
        records++;
      }
    }
    return record;
  }

  @Override
  public void close() throws IOException {
    values.close();
  }

  private static InputStream decompressed(InputStream in) throws IOException {
    in.mark(2);
    boolean gzip = in.read() == 0x1f && in.read() == 0x8b;
    in.reset();
    return gzip ? new GZIPInputStream(in) : in;
  }

  private boolean more() throws IOException {
    try {
      return values.hasNext();
    } catch (EOFException e) {
      truncated = true;
      return false;
    } catch (ZipException e) {
      throw damaged("damaged compression", e);
    }
  }

  /** Reads one value; sets {@link #truncated} when the file ends inside it. */
  private @Nullable Object read() throws IOException {
    try {
      return values.next();
    } catch (EOFException | MessageInsufficientBufferException e) {
      truncated = true;
      return null;
    } catch (MessageSizeException e) {
      throw damaged("a length of " + e.getSize() + ", which is too much", e);
    } catch (MessagePackException e) {
      throw damaged("no MessagePack", e);
    } catch (ZipException | CaptureException e) {
      throw damaged(String.valueOf(e.getMessage()), e);
    }
  }

  private CaptureHeader readHeader() throws IOException {
    Object value = more() ? read() : null;
    if (truncated || value == null) {
      throw new CaptureException(name + ": ends inside the header");
    }
    try {
      return CaptureFormat.header(value);
    } catch (IllegalArgumentException e) {
      throw new CaptureException(name + ": not a capture file: " + e.getMessage(), e);
    }
  }

  private @Nullable CaptureRecord record(@Nullable Object value) throws IOException {
    try {
      return CaptureFormat.record(value);
    } catch (IllegalArgumentException e) {
      throw damaged(String.valueOf(e.getMessage()), e);
    }
  }

  private CaptureException damaged(String problem, Throwable cause) {
    String where = ": record " + (records + 1) + ", before byte " + values.bytesRead() + ": ";
    return new CaptureException(name + where + problem, cause);
  }
}

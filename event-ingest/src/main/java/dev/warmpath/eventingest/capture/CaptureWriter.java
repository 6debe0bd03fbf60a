package dev.warmpath.eventingest.capture;

import dev.warmpath.eventingest.OwnerOnly;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.math.BigInteger;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import org.jspecify.annotations.Nullable;
import org.msgpack.core.MessagePack;
import org.msgpack.core.MessagePacker;

/**
 * Writes a new capture file, gzip-compressed when its name ends in {@code .gz}.
 *
 * <p>A crash leaves a file that {@link CaptureReader} reads up to the last {@link #flush}, or
 * further. Captures hold prompts, so only their owner may read them where the file system can tell.
 *
 * <p>Confined to its writer's thread.
 */
public final class CaptureWriter implements CaptureSink {

  private static final int BUFFER_BYTES = 1 << 16;
  private static final Set<StandardOpenOption> NEW =
      Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE);

  private final MessagePacker packer;

  private CaptureWriter(MessagePacker packer) {
    this.packer = packer;
  }

  /**
   * Creates the file and writes its header.
   *
   * @throws java.nio.file.FileAlreadyExistsException when there is such a file: it is left alone
   */
  public static CaptureWriter create(Path file, CaptureHeader header) throws IOException {
    OutputStream out =
        Channels.newOutputStream(Files.newByteChannel(file, NEW, OwnerOnly.attributes(file)));
    OutputStream encoded =
        file.toString().endsWith(".gz")
            ? new GZIPOutputStream(out, BUFFER_BYTES, true)
            : new BufferedOutputStream(out, BUFFER_BYTES);
    CaptureWriter writer = new CaptureWriter(MessagePack.newDefaultPacker(encoded));
    writer.pack(CaptureFormat.plain(header));
    writer.flush();
    return writer;
  }

  @Override
  public void write(CaptureRecord record) throws IOException {
    pack(CaptureFormat.plain(record));
  }

  @Override
  public void flush() throws IOException {
    packer.flush();
  }

  /** Bytes written so far, before compression. */
  public long bytes() {
    return packer.getTotalWrittenBytes();
  }

  @Override
  public void close() throws IOException {
    packer.close();
  }

  private void pack(@Nullable Object value) throws IOException {
    if (value == null) {
      packer.packNil();
    } else if (value instanceof String text) {
      packer.packString(text);
    } else if (value instanceof Boolean flag) {
      packer.packBoolean(flag);
    } else if (value instanceof BigInteger number) {
      packer.packBigInteger(number);
    } else if (value instanceof Double number) {
      packer.packDouble(number);
    } else if (value instanceof Long number) {
      packer.packLong(number);
    } else if (value instanceof Integer number) {
      packer.packInt(number);
    } else if (value instanceof byte[] bytes) {
      packer.packBinaryHeader(bytes.length).writePayload(bytes);
    } else if (value instanceof List<?> list) {
      packList(list);
    } else if (value instanceof Map<?, ?> map) {
      packMap(map);
    } else {
      throw new IllegalArgumentException("type=" + value.getClass().getName());
    }
  }

  private void packList(List<?> list) throws IOException {
    packer.packArrayHeader(list.size());
    for (Object element : list) {
      pack(element);
    }
  }

  private void packMap(Map<?, ?> map) throws IOException {
    packer.packMapHeader(map.size());
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      pack(entry.getKey());
      pack(entry.getValue());
    }
  }
}

package dev.warmpath.eventingest.snapshot.file;

import dev.warmpath.eventingest.snapshot.EngineSnapshot;
import dev.warmpath.eventingest.snapshot.IngestSnapshot;
import dev.warmpath.eventingest.snapshot.file.SnapshotRefusedException.Reason;
import dev.warmpath.kvindex.IndexLimits;
import dev.warmpath.kvindex.runs.RunKvIndex;
import dev.warmpath.kvindex.runs.snapshot.SnapshotException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.CRC32C;

/** How the state of ingest and the index lie in one stream. */
public final class SnapshotFormat {

  /*
   *   magic (8 bytes) | version (4) | length (4) | ingest | CRC-32C of all before (4) | index | end
   *
   * Numbers are big-endian; the index is what RunKvIndex.writeTo gives, with checksums of its own.
   */

  static final byte[] MAGIC = "WPROUTER".getBytes(StandardCharsets.US_ASCII);
  static final int VERSION = 6;

  /** What the version before wrote is read too: a new one should not begin with nothing. */
  static final int OLDEST_VERSION = 5;

  static final int HEAD_BYTES = 16;
  private static final int MAX_INGEST_BYTES = 64 << 20;

  private SnapshotFormat() {}

  /** What a stream held. */
  public record Content(RunKvIndex index, IngestSnapshot ingest) {}

  /** Writes both; to be called by the index's writer. */
  public static void write(IngestSnapshot snapshot, RunKvIndex index, OutputStream out)
      throws IOException {
    byte[] bytes = SnapshotEncoder.bytes(snapshot);
    ByteBuffer head = ByteBuffer.allocate(HEAD_BYTES + bytes.length + Integer.BYTES);
    head.put(MAGIC).putInt(VERSION).putInt(bytes.length).put(bytes);
    out.write(head.putInt(checksum(head.array(), head.position())).array());
    index.writeTo(out);
  }

  /**
   * Reads both.
   *
   * @throws SnapshotRefusedException if the stream is not what {@link #write} gives
   */
  public static Content read(InputStream in, IndexLimits limits) throws IOException {
    return readBehind(readIngest(in), in, limits);
  }

  /** Reads what follows {@link #readIngest}. */
  static Content readBehind(IngestSnapshot snapshot, InputStream in, IndexLimits limits)
      throws IOException {
    RunKvIndex index = readIndex(in, limits);
    try {
      snapshot.engines().stream().map(EngineSnapshot::slot).forEach(index::stats);
    } catch (IllegalArgumentException e) {
      throw new SnapshotRefusedException(Reason.DAMAGED, e);
    }
    if (in.read() >= 0) {
      throw damaged("more follows behind the index");
    }
    return new Content(index, snapshot);
  }

  /** Reads the state of ingest alone, which comes first. */
  static IngestSnapshot readIngest(InputStream in) throws IOException {
    byte[] head = in.readNBytes(HEAD_BYTES);
    ByteBuffer fields = ByteBuffer.wrap(head);
    if (head.length < HEAD_BYTES || !Arrays.equals(head, 0, 8, MAGIC, 0, 8)) {
      throw damaged("no snapshot of a router");
    }
    int version = fields.getInt(MAGIC.length);
    if (version < OLDEST_VERSION || version > VERSION) {
      throw new SnapshotRefusedException(
          Reason.OTHER_VERSION,
          "version %s, only %d to %d are understood"
              .formatted(Integer.toUnsignedString(version), OLDEST_VERSION, VERSION));
    }
    int length = fields.getInt(MAGIC.length + Integer.BYTES);
    if (length < 0 || length > MAX_INGEST_BYTES) {
      throw damaged("ingest state of " + length + " bytes");
    }
    return readIngest(head, in.readNBytes(length + Integer.BYTES), length);
  }

  private static IngestSnapshot readIngest(byte[] head, byte[] body, int length)
      throws IOException {
    if (body.length < length + Integer.BYTES) {
      throw damaged("cut");
    }
    byte[] all = Arrays.copyOf(head, HEAD_BYTES + length);
    System.arraycopy(body, 0, all, HEAD_BYTES, length);
    if (ByteBuffer.wrap(body).getInt(length) != checksum(all, all.length)) {
      throw damaged("checksum of the ingest state does not match");
    }
    try {
      int version = ByteBuffer.wrap(head).getInt(MAGIC.length);
      return SnapshotDecoder.snapshot(Arrays.copyOf(body, length), version);
    } catch (IOException | IllegalArgumentException e) {
      throw new SnapshotRefusedException(Reason.DAMAGED, e);
    }
  }

  private static RunKvIndex readIndex(InputStream in, IndexLimits limits) throws IOException {
    try {
      return RunKvIndex.readFrom(in, limits);
    } catch (SnapshotException e) {
      boolean newer = e.isOtherVersion();
      throw new SnapshotRefusedException(newer ? Reason.OTHER_VERSION : Reason.DAMAGED, e);
    }
  }

  private static SnapshotRefusedException damaged(String what) {
    return new SnapshotRefusedException(Reason.DAMAGED, what);
  }

  private static int checksum(byte[] bytes, int count) {
    CRC32C checksum = new CRC32C();
    checksum.update(bytes, 0, count);
    return (int) checksum.getValue();
  }
}

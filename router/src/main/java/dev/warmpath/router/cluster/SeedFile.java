package dev.warmpath.router.cluster;

import dev.warmpath.eventingest.OwnerOnly;
import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * A snapshot on its way, in a file that has no name once it is open: only this process can read it,
 * and nothing is left of it when the process ends, however it does.
 *
 * <p>Chunks may be read and written by any thread; a stream by one.
 */
final class SeedFile implements AutoCloseable {

  private final FileChannel channel;

  private SeedFile(FileChannel channel) {
    this.channel = channel;
  }

  /** Makes one. */
  static SeedFile open(Path folder) throws IOException {
    Path file =
        Files.createTempFile(folder, "warmpath-seed-", ".tmp", OwnerOnly.attributes(folder));
    try {
      return new SeedFile(
          FileChannel.open(file, StandardOpenOption.READ, StandardOpenOption.WRITE));
    } finally {
      Files.deleteIfExists(file);
    }
  }

  long bytes() throws IOException {
    return channel.size();
  }

  /** Writes a chunk at its place. */
  void write(int chunk, byte[] bytes) throws IOException {
    ByteBuffer from = ByteBuffer.wrap(bytes);
    long at = (long) chunk * SeedMessage.CHUNK_BYTES;
    while (from.hasRemaining()) {
      at += channel.write(from, at);
    }
  }

  /** Reads a chunk of so many bytes. */
  byte[] read(int chunk, int length) throws IOException {
    ByteBuffer into = ByteBuffer.allocate(length);
    long at = (long) chunk * SeedMessage.CHUNK_BYTES;
    while (into.hasRemaining()) {
      int count = channel.read(into, at + into.position());
      if (count < 0) {
        throw new IOException("ends at " + channel.size() + " bytes");
      }
    }
    return into.array();
  }

  /** All of it from its beginning; not to be closed. */
  InputStream input() throws IOException {
    channel.position(0);
    return new BufferedInputStream(Channels.newInputStream(channel), 1 << 16);
  }

  /** Writes it from its beginning; to be flushed, not closed. */
  OutputStream output() throws IOException {
    channel.position(0);
    return new BufferedOutputStream(Channels.newOutputStream(channel), 1 << 16);
  }

  @Override
  public void close() {
    try {
      channel.close();
    } catch (IOException e) {
      // it has no name any more: the system frees it
    }
  }
}

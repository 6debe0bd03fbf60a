package dev.warmpath.tokenizer.image;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Image files of random kinds and sizes, written byte by byte, with what their headers say. */
final class MadeImages {

  /**
   * A file and what is to be read of it.
   *
   * @param header null if nothing may be claimed
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  record Made(String kind, byte[] file, @Nullable ImageHeader header) {}

  private static final int MOST = 4000;

  private final RandomGenerator random;

  MadeImages(RandomGenerator random) {
    this.random = random;
  }

  Made next() {
    int width = 1 + random.nextInt(MOST);
    int height = 1 + random.nextInt(MOST);
    return switch (random.nextInt(7)) {
      case 0 -> jpeg(width, height);
      case 1 -> png(width, height);
      case 2 -> gif(width, height);
      case 3 -> bmp(width, height);
      case 4 -> lossy(width, height);
      case 5 -> lossless(width, height);
      default -> extended(width, height);
    };
  }

  /** A prefix of a file, or one with bytes that are not what they were. */
  byte[] spoiled(byte[] file) {
    if (random.nextBoolean()) {
      return java.util.Arrays.copyOf(file, random.nextInt(file.length));
    }
    byte[] other = file.clone();
    for (int i = 0; i < 1 + random.nextInt(4); i++) {
      other[random.nextInt(other.length)] = (byte) random.nextInt();
    }
    return other;
  }

  private Made jpeg(int width, int height) {
    Out out = new Out().bytes(0xff, 0xd8);
    int orientation = 1;
    if (random.nextInt(3) == 0) {
      segment(out, 0xe0, "JFIF\0\1\1\0\0\1\0\1\0\0".getBytes(StandardCharsets.ISO_8859_1));
    }
    if (random.nextInt(2) == 0) {
      orientation = 1 + random.nextInt(8);
      Out exif = new Out().text("Exif\0\0").raw(tiff(orientation));
      segment(out, 0xe1, exif.toBytes());
    } else if (random.nextInt(3) == 0) {
      orientation = 1 + random.nextInt(8);
      Out xmp = new Out().text("http://ns.adobe.com/xap/1.0/\0").text(xmp(orientation));
      segment(out, 0xe1, xmp.toBytes());
    }
    if (random.nextInt(3) == 0) {
      segment(out, 0xe2, new byte[random.nextInt(60_000)]);
    }
    if (random.nextInt(4) == 0) {
      out.bytes(0xff);
    }
    int components = new int[] {1, 3, 3, 4}[random.nextInt(4)];
    Out frame = new Out().bytes(8).big(height, 2).big(width, 2).bytes(components);
    for (int i = 0; i < components; i++) {
      frame.bytes(i + 1, 0x11, 0);
    }
    segment(out, random.nextBoolean() ? 0xc0 : 0xc2, frame.toBytes());
    segment(out, 0xc4, new byte[random.nextInt(50)]);
    segment(out, 0xda, new byte[6]);
    out.raw(new byte[random.nextInt(200)]).bytes(0xff, 0xd9);
    return new Made("jpeg", out.toBytes(), turned(width, height, components == 3, orientation));
  }

  private Made png(int width, int height) {
    int type = new int[] {0, 2, 2, 3, 4, 6}[random.nextInt(6)];
    Out head = new Out().big(width, 4).big(height, 4).bytes(8, type, 0, 0, 0);
    Out out = new Out().bytes(0x89).text("PNG\r\n").bytes(0x1a).text("\n");
    chunk(out, "IHDR", head.toBytes());
    boolean transparent = random.nextInt(4) == 0;
    if (transparent) {
      chunk(out, "tRNS", new byte[6]);
    }
    boolean animated = random.nextInt(8) == 0;
    if (animated) {
      chunk(out, "acTL", new byte[8]);
    }
    chunk(out, "IDAT", new byte[random.nextInt(300)]);
    int orientation = 1;
    if (random.nextInt(3) == 0) {
      orientation = 1 + random.nextInt(8);
      chunk(out, "eXIf", tiff(orientation));
    }
    chunk(out, "IEND", new byte[0]);
    boolean known = !animated && !(transparent && type == 2);
    return new Made(
        "png", out.toBytes(), known ? turned(width, height, type == 2, orientation) : null);
  }

  private Made gif(int width, int height) {
    int flags = random.nextBoolean() ? 0x80 | random.nextInt(8) : 0;
    Out out = new Out().text(random.nextBoolean() ? "GIF87a" : "GIF89a");
    out.little(width, 2).little(height, 2).bytes(flags, 0, 0);
    out.raw(new byte[flags == 0 ? 0 : 3 << ((flags & 7) + 1)]);
    if (random.nextBoolean()) {
      out.bytes(0x21, 0xf9, 4, 0, 0, 0, 0, 0);
    }
    int right = 1 + random.nextInt(width);
    out.bytes(0x2c).little(width - right, 2).little(0, 2).little(right, 2).little(height, 2);
    out.bytes(0, 2, 1, 0, 0, 0x3b);
    return new Made("gif", out.toBytes(), new ImageHeader(width, height, false));
  }

  private Made bmp(int width, int height) {
    int bits = new int[] {1, 4, 8, 16, 24, 24, 32}[random.nextInt(7)];
    boolean upsideDown = random.nextBoolean();
    boolean alpha = bits == 32 && random.nextBoolean();
    Out out = new Out().text("BM").little(0, 4).little(0, 4).little(54, 4);
    int size = alpha ? 108 : 40;
    out.little(size, 4).little(width, 4).little(upsideDown ? -(long) height : height, 4);
    out.little(1, 2).little(bits, 2).little(alpha ? 3 : 0, 4).raw(new byte[20]);
    if (alpha) {
      out.little(0xff0000L, 4).little(0xff00L, 4).little(0xffL, 4).little(0xff000000L, 4);
    }
    out.raw(new byte[alpha ? 52 : 16]);
    return new Made("bmp", out.toBytes(), new ImageHeader(width, height, bits >= 16 && !alpha));
  }

  private Made lossy(int width, int height) {
    Out out = riff().text("VP8 ").raw(chunkOf(vp8(width, height)));
    return new Made("webp", out.toBytes(), new ImageHeader(width, height, true));
  }

  private Made lossless(int width, int height) {
    boolean alpha = random.nextBoolean();
    Out out = riff().text("VP8L").raw(chunkOf(vp8l(width, height, alpha)));
    return new Made("webp", out.toBytes(), new ImageHeader(width, height, !alpha));
  }

  private Made extended(int width, int height) {
    boolean alpha = random.nextBoolean();
    boolean exif = random.nextBoolean();
    int flags = (alpha ? 0x10 : 0) | (exif ? 0x08 : 0);
    Out head = new Out().bytes(flags, 0, 0, 0).little(width - 1, 3).little(height - 1, 3);
    Out out = riff().text("VP8X").raw(chunkOf(head.toBytes()));
    if (random.nextBoolean()) {
      out.text("VP8L").raw(chunkOf(vp8l(width, height, alpha)));
    } else {
      if (alpha) {
        out.text("ALPH").raw(chunkOf(new byte[random.nextInt(20)]));
      }
      out.text("VP8 ").raw(chunkOf(vp8(width, height)));
    }
    int orientation = exif ? 1 + random.nextInt(8) : 1;
    if (exif) {
      out.text("EXIF").raw(chunkOf(tiff(orientation)));
    }
    return new Made("webp", out.toBytes(), turned(width, height, !alpha, orientation));
  }

  private static Out riff() {
    return new Out().text("RIFF").little(0, 4).text("WEBP");
  }

  private static byte[] vp8(int width, int height) {
    return new Out()
        .bytes(0x10, 0, 0, 0x9d, 0x01, 0x2a)
        .little(width, 2)
        .little(height, 2)
        .raw(new byte[5])
        .toBytes();
  }

  private static byte[] vp8l(int width, int height, boolean alpha) {
    long bits = (width - 1) | (height - 1L) << 14 | (alpha ? 1L << 28 : 0);
    return new Out().bytes(0x2f).little(bits, 4).raw(new byte[3]).toBytes();
  }

  private static byte[] chunkOf(byte[] data) {
    return new Out().little(data.length, 4).raw(data).raw(new byte[data.length & 1]).toBytes();
  }

  private byte[] tiff(int orientation) {
    boolean little = random.nextBoolean();
    ByteBuffer tiff =
        ByteBuffer.allocate(38).order(little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN);
    tiff.put((byte) (little ? 'I' : 'M')).put((byte) (little ? 'I' : 'M'));
    tiff.putShort((short) 42).putInt(8).putShort((short) 2);
    tiff.putShort((short) 0x100).putShort((short) 4).putInt(1).putInt(7);
    tiff.putShort((short) 0x112).putShort((short) 3).putInt(1).putShort((short) orientation);
    return tiff.array();
  }

  private String xmp(int orientation) {
    return random.nextBoolean()
        ? "<x tiff:Orientation=\"" + orientation + "\"/>"
        : "<tiff:Orientation>" + orientation + "</tiff:Orientation>";
  }

  private static ImageHeader turned(int width, int height, boolean rgb, int orientation) {
    return orientation >= 5
        ? new ImageHeader(height, width, rgb)
        : new ImageHeader(width, height, rgb);
  }

  private static void segment(Out out, int code, byte[] data) {
    out.bytes(0xff, code).big(data.length + 2, 2).raw(data);
  }

  private static void chunk(Out out, String type, byte[] data) {
    out.big(data.length, 4).text(type).raw(data).raw(new byte[4]);
  }

  /** Bytes that are written one after another. */
  private static final class Out {
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();

    Out bytes(int... values) {
      for (int value : values) {
        bytes.write(value);
      }
      return this;
    }

    Out raw(byte[] values) {
      bytes.writeBytes(values);
      return this;
    }

    Out text(String text) {
      return raw(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    Out big(long value, int count) {
      for (int i = count - 1; i >= 0; i--) {
        bytes.write((int) (value >>> (8 * i)));
      }
      return this;
    }

    Out little(long value, int count) {
      for (int i = 0; i < count; i++) {
        bytes.write((int) (value >>> (8 * i)));
      }
      return this;
    }

    byte[] toBytes() {
      return bytes.toByteArray();
    }
  }
}

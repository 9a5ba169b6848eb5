/** One event of the stream. */
export interface Frame {
  name: string;
  data: string;
}

/** Takes the text of an event stream piece by piece and gives what is whole; knows the last number. */
export class Frames {
  lastId = "";
  private rest = "";

  /** Drops the incomplete frame of a connection that ended; the server sends it again. */
  begin(): void {
    this.rest = "";
  }

  take(text: string): Frame[] {
    const blocks = (this.rest + text).split("\n\n");
    this.rest = blocks.pop() ?? "";
    return blocks.flatMap((block) => this.read(block));
  }

  private read(block: string): Frame[] {
    let name = "message";
    const data: string[] = [];
    for (const line of block.split("\n")) {
      const [, field, value = ""] = /^([^:]*):? ?(.*)$/s.exec(line) ?? [];
      if (field === "id") this.lastId = value;
      else if (field === "event") name = value;
      else if (field === "data") data.push(value);
    }
    return data.length ? [{ name, data: data.join("\n") }] : [];
  }
}
